"""The app: settings become widgets, links and sessions.

`pages` declares the pages, `links` says what an address may say, `session` what is set, `results`
what that comes to, `notes` and `widgets` put it on a page, `server` tunes the process, `frame`
holds it all together. May import every other room; with `components` the only one to know
Streamlit.
"""
