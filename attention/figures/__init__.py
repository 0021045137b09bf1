"""Numbers and tokens become figures, matrices, tables, sentences and a script.

Settings of a page stand beside the words for it. Nothing here displays anything.

May import: core, capture, inputs, trained, changing, analysis, pipeline; torch, torchtext, numpy,
pandas, plotly, safetensors.
"""

from attention.figures.layer_maps import layer_map
from attention.figures.plots import heatmap

__all__ = ["heatmap", "layer_map"]
