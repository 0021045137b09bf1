"""The app: settings become widgets, links and sessions.

`pages` declares the pages, `links` says what an address may say, `session` what is set, `results`
what that comes to, `opened` what is in a visitor's file, `chapters` which chapter of a lesson is
open, `qr` draws a link, `works` which works are under way, `learning` which trainings, `street_map`
what a browser asks for of a map, `notes`, `trainings`, `widgets` and `sections` put it on a page,
`first_screen` what the bare address opens on, `cuts` sends it whole, `left` drops what comes from a
page that was left, `server` tunes the process, `frame` holds it all together, `command` serves it.

May import: core, capture, hosting, inputs, trained, training, analysis, pipeline, display, lessons,
claims, components; torch, torchtext, cachetools, pandas, segno, streamlit, starlette.
"""
