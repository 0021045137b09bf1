"""All heads of all layers of a model at a glance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from attention.analysis.heads import Keys, Overview, overview_of
from attention.trained.models import Run


@dataclass(frozen=True, eq=False)
class Glance:
    """Layers of one kind at a glance: every head of every layer.

    layers: their positions in the model; heads: how many each has; seen: all heads, layer after
    layer; shape: queries and keys.
    """

    layers: tuple[int, ...]
    heads: int
    seen: Overview
    shape: tuple[int, ...]


def glances(run: Run, aside: bool = False) -> list[Glance]:
    """All heads of all layers: those over the sentence itself, and those that look at it from what
    is written over it.

    aside: whether the pieces that can be are ignored, see `Pieces.kept`.
    One layer's weights are worked out at a time, and only their picture and measures are kept.
    """
    kinds: dict[bool, list[int]] = {}
    for position, layer_input in enumerate(run.inputs):
        kinds.setdefault(layer_input.layer.crosses, []).append(position)
    return [_glance(run, layers, aside) for layers in kinds.values()]


def rows_of(run: Run, query: int, aside: bool = False) -> Tensor:
    """The weights of one token in all layers over the sentence itself: (layers, heads, keys).

    query: its position among the pieces that are shown.
    """
    within = [
        row
        for row, layer_input in zip(rows_of_each(run, query, query, aside), run.inputs, strict=True)
        if not layer_input.layer.crosses
    ]
    return torch.stack(within)


@torch.no_grad()
def rows_of_each(run: Run, query: int, across: int, aside: bool = False) -> list[Tensor]:
    """The weights of one token in each layer, (heads, keys).

    query: its position in the sentence, among the pieces that are shown; across: in layers over
    what is written over the sentence, its position there.
    """
    rows = []
    for layer_input in run.inputs:
        memory_pieces, memory = layer_input.memory_pieces, layer_input.memory
        x = layer_input.x[layer_input.pieces.kept(aside)]
        at = min(across if layer_input.layer.crosses else query, len(x) - 1)
        if memory is not None and memory_pieces is not None:
            memory = memory[memory_pieces.kept(aside)]
        sliced = layer_input.layer.sliced(x, memory)
        rows.append(sliced(slice(at, at + 1), slice(None)).weights[:, 0])
    return rows


@torch.no_grad()
def _glance(run: Run, layers: Sequence[int], aside: bool) -> Glance:
    made = []
    n_heads = run.inputs[layers[0]].layer.attention.heads
    for position in layers:
        layer_input = run.inputs[position]
        keys = layer_input.memory_pieces or layer_input.pieces
        queries, kept = layer_input.pieces.kept(aside), keys.kept(aside)
        x, memory = layer_input.x[queries], layer_input.memory
        memory = None if memory is None else memory[kept]
        weights = torch.cat([some.weights for some in layer_input.layer.traces(x, memory)])
        others = n_heads * (len(layers) - 1)
        crosses = memory is not None
        read = Keys([keys.special[key] for key in kept], keys.ids[kept].tolist())
        made.append(overview_of(weights, read, others, crosses))
    return Glance(tuple(layers), n_heads, _joined(made), tuple(weights.shape[-2:]))


def _joined(made: Sequence[Overview]) -> Overview:
    """Overviews of several layers as one, with the measures that all of them have."""
    first = made[0]
    names = [name for name in first.measures if all(name in one.measures for one in made)]
    measured = {name: torch.cat([one.measures[name] for one in made]) for name in names}
    return Overview(torch.cat([one.dots for one in made]), first.block, measured, first.rows)
