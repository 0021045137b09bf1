"""Our browser components: a typed Python wrapper each, its module and style in `browser/`.

They are Streamlit components v2: no iframe, no build step, the browser imports the modules as they
stand. Tokens reach the page as text only (`textContent`); colours come from the theme's `--st-*`
variables.

May import: core, training, analysis, display; torch, numpy, plotly, streamlit, starlette, google.
"""
