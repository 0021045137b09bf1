"""Our browser components: a typed Python wrapper each, its script and style in a folder beside.

They are Streamlit components v2: no iframe, no build step. Tokens reach the page as text only
(`textContent`); colours come from the theme's `--st-*` variables.

May import: core, display, lessons; torch, numpy, plotly, streamlit.
"""

from attention.components.inputs import copy_link, examples, mask_grid, number_grid
from attention.components.pictures import (
    comparison,
    head_grid,
    heatmap,
    matrices,
    sweep,
    weighted_sum,
)
from attention.components.tokens import head_view, token_view

__all__ = [
    "comparison",
    "copy_link",
    "examples",
    "head_grid",
    "head_view",
    "heatmap",
    "mask_grid",
    "matrices",
    "number_grid",
    "sweep",
    "token_view",
    "weighted_sum",
]
