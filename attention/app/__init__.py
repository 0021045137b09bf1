"""The app: settings become widgets, links and sessions.

`state` says what is set, `results` what that comes to, `streamlit_fixes` answers behaviours of
Streamlit, `parts` puts it all on pages, `shell` stands around them and serves the app. Each of them
leans on those before it alone.

May import: core, capture, hosting, inputs, trained, training, analysis, pipeline, display, lessons,
claims, components; torch, torchtext, cachetools, pandas, segno, streamlit, starlette.
"""
