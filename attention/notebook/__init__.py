"""Runs in a notebook: a live widget of the app's own modules, or the same picture as one file.

`show` decides which of them it is, `heads` is what both show first, `widget` the live one, `page`
the file, `arrays` shows weights without a run, `scenes` any figures of a page.

May import: core, capture, analysis, figures; torch, plotly, anywidget, traitlets.
"""
