"""Weights without a model, as models return them: all heads, or the heatmap of one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import plotly.graph_objects as go
import torch
from torch.nn.functional import max_pool2d

from attention.analysis.returned_weights import (
    Layer,
    check_numbers,
    fit_weights,
    one_sequence,
    sums_to_less,
)
from attention.core.functional import WeightsAlone
from attention.figures import plots
from attention.figures.captions import sums_words
from attention.figures.head_grid import grid_of_blocks, grid_words
from attention.figures.scene import Words, scene
from attention.notebook.heads import First
from attention.notebook.scenes import ShownScene

MAX_CELLS = 360_000  # of one head: 4 MB in a notebook
SINK = "the rest goes to none of these keys, as to an attention sink."


def show_array(
    weights: Any,
    tokens: Sequence[str] | None,
    keys: Sequence[str] | None,
    entry: int | None,
    first: First,
    attention_mask: Any,
) -> go.Figure | ShownScene:
    """All heads of weights, or one of them; the arguments are those of `show`.

    Raises ValueError where shapes or numbers do not fit.
    """
    if tokens is None:
        raise ValueError("there must be a token for each query, as `show(weights, tokens)`")
    if isinstance(first.layer, str) and first.layer != "all":
        raise ValueError(f'layer must be a number or "all", got {first.layer!r}')
    layer, head, query = cast(Layer, first.layer), first.head, first.query or 0
    shown = one_sequence(
        weights, tokens, keys, layer=layer, entry=entry, attention_mask=attention_mask
    )
    fitting = fit_weights(shown.numbers, shown.tokens, shown.keys)
    layers, heads, n_queries, n_keys = fitting.shape
    if one := (layers, heads) == (1, 1) or layer not in (None, "all") or head is not None:
        at, head = 0 if layer is None else layer, head or 0
        if at == "all" or not (0 <= at < layers and 0 <= head < heads and 0 <= query < n_queries):
            raise ValueError(
                f"layer, head and query must lie below {layers}, {heads} and {n_queries}, "
                f"got {at}, {head} and {query}"
            )
        fitting = fitting[at : at + 1, head : head + 1]
    check_numbers(fitting)
    numbers = fitting.float()
    sums = ""
    if bool(sums_to_less(numbers).any()):
        sums = f"{sums_words(numbers).capitalize()}: {SINK}"
    if one and n_queries * n_keys <= MAX_CELLS:
        figure = plots.heatmap(
            WeightsAlone(numbers[0, 0]), "weights", shown.tokens, query, shown.keys
        )
        if sums:
            plots.write_below(figure, sums)
        return figure

    def blocks(block: int) -> torch.Tensor:
        return max_pool2d(numbers.flatten(0, 1)[:, None], block, ceil_mode=True)[:, 0]

    names, size = [f"layer {number}" for number in range(len(numbers))], (n_queries, n_keys)
    grid = grid_of_blocks(blocks, numbers.shape[0] * numbers.shape[1], size, names)
    return ShownScene(scene(grid, Words(f"{grid_words(grid, size)} {sums}".strip())))
