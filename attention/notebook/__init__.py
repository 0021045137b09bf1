"""Runs in a notebook: a live widget of the app's own modules, or the same picture as one file.

`show` decides which of them it is, `heads` is what both show first, `widget` the live one,
`page` the file, `scenes` a file of any figures of a page, `bundle` makes one module of those in a
folder.

May import: core, capture, analysis, figures, subjects; torch, plotly, anywidget, traitlets.
"""
