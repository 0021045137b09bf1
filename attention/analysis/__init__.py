"""Measures of a trace or a run: of heads, additions, effects of a change.

Words for these numbers stand in `display`, but for those of `associations`, which tell their methods.

May import: core, trained, training; torch, numpy, safetensors, scipy.
"""
