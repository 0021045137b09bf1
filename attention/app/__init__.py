"""The app: settings become widgets, links and sessions.

`state` holds settings and visit, `cached` what they come to, `streamlit_fixes` answers behaviours
of Streamlit, `components` draw in the browser, `controls` are the widgets of settings and what
stands around figures, `shell` stands around pages and serves the app. None of them knows a page.

May import: core, capture, hosting, inputs, trained, training, changing, analysis, pipeline,
figures; torch, torchtext, cachetools, google, pandas, plotly, segno, streamlit, starlette.
"""
