"""Numbers and tokens become figures, matrices, tables, captions and a script.

Nothing here displays anything.

May import: core, capture, inputs, pipeline; torch, numpy, plotly, safetensors.
"""
