"""Texts whose weights are not all seen at once: the input of one layer, and how long it takes."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from attention.trained.layers import LayerRun
from attention.trained.models import LayerInput, Model, Padded, Pieces, Start, Transformer


def takes_long_texts(model: Model) -> bool:
    """True if a model takes more pieces than are seen at once."""
    return isinstance(model, Transformer) and model.takes > model.limit


@torch.no_grad()
def states(
    model: Model, pieces: Pieces, start: Start | None, tell: Callable[[], object]
) -> Iterator[Tensor]:
    """Yield the output of one layer after the other, (pieces, d_model), as far as it is asked for.

    start: the layer to begin with and its input, None: at the pieces; tell: called between parts of
    the work. No weights are kept: beside the text's states this takes those of a few queries.
    """

    def between(layer: int, run: LayerRun) -> LayerRun:
        run.attended  # noqa: B018  worked out here, so that others have a turn after it
        tell()
        return run

    for run in model.forward(Padded(pieces.ids), edit=between, start=start):
        tell()
        yield run.output


def layer_input(model: Model, pieces: Pieces, layer: int, entered: Tensor) -> LayerInput:
    """The input of a layer whose attention gets what enters it."""
    return LayerInput(model.layers[layer], pieces, entered, entered)


def products(model: Model, pieces: int, layers: int) -> float:
    """Number of products that so many layers take over so many pieces, roughly."""
    layer = model.layers[0]
    parts = [*layer.attention.buffers(), *vars(layer.feed_forward or object).values()]
    weights = sum(part.numel() for part in parts if isinstance(part, Tensor) and part.dim() == 2)
    width = layer.attention.W_q.shape[1]
    return layers * pieces * (weights + (1 if layer.causal else 2) * width * pieces)
