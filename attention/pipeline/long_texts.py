"""Texts whose weights are not all seen at once: the input of one layer, and how long it takes."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from attention.trained.models import LayerInput, Model, Pieces, Transformer


def takes_long_texts(model: Model) -> bool:
    """True if a model takes more pieces than are seen at once."""
    return isinstance(model, Transformer) and model.takes > model.limit


@torch.no_grad()
def states(model: Model, x: Tensor, first: int = 0) -> Iterator[Tensor]:
    """Yield the output of one layer after the other, as far as it is asked for.

    x: the input of the first one, (pieces, d_model). Beside it no more is kept between layers, and
    within one the weights of a few queries.
    """
    for layer in model.layers[first:]:
        x = layer.run(x).output
        yield x


def layer_input(model: Model, pieces: Pieces, layer: int, entered: Tensor) -> LayerInput:
    """The input of a layer whose attention gets what enters it."""
    return LayerInput(model.layers[layer], pieces, entered, entered)


def products(model: Model, pieces: int, layers: int) -> float:
    """Number of products that so many layers take over so many pieces, roughly."""
    return layers * model.layers[0].products(pieces)
