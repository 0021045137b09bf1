"""Measures of a trace or a run: of heads, additions, losses.

Words for these numbers stand in `figures`, and with the page that shows them; methods of
`associations` have their own.

May import: core, capture, trained, changing; torch, numpy, pandas, safetensors, scipy,
distributed.
"""
