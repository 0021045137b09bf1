"""Our browser components: a typed Python wrapper each, its script and style in a folder beside.

They are Streamlit components v2: no iframe, no build step. Tokens reach the page as text only
(`textContent`); colours come from the theme's `--st-*` variables.

May import: core, display, lessons; torch, numpy, plotly, streamlit, starlette,
google.
"""
