"""Measures of a trace or a run: of heads, additions, effects of a change.

Words for these numbers stand with the pages that show them.

May import: core, trained, training; torch, numpy, safetensors, scipy.
"""
