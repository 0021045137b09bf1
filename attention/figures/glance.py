"""All heads of all layers at a glance, as one figure that stays small."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

import numpy
import plotly.graph_objects as go
from torch import Tensor
from torch.nn.functional import max_pool2d

from attention.figures.plotly_templates import drawn
from attention.figures.plots import MASKED, MAX_TICKS, position_labels

MAX_CELLS = 360_000  # of all heads: 4 MB in a file
WIDTH = 900  # pixels that the heads of a layer take
LARGEST, SMALLEST = 230, 16  # pixels of a head beside others
GAP = 4  # pixels between two heads, or one cell where that is more
ROOM = {"l": 70, "r": 10, "t": 90, "b": 10}


class HeadGridHeader(TypedDict):
    """All heads as small heatmaps to choose from.

    rest of the bytes: their dots, uint8 (heads, rows, columns).
    """

    heads: int
    rows: int
    columns: int
    block: int
    tokens: int
    saturated: bool
    chosen: int
    layerNames: list[str]
    said: list[str]
    marked: int
    asks: bool
    absent: list[int]  # heads that a layer has not, which have no tile
    sizes: bool  # the dots are sizes of weights, which may lie below 0


def glance(weights: Tensor, tokens: Sequence[str], keys: Sequence[str]) -> go.Figure:
    """Heads beside each other, a row for each layer, each coloured up to its greatest weight.

    weights: (layers, heads, queries, keys). Where these are more than `MAX_CELLS`, a cell is the
    greatest weight of a block, and the title says of how many.
    """

    def blocks(down: int, across: int) -> Tensor:
        return max_pool2d(weights, (down, across), ceil_mode=True)

    return glance_of_blocks(blocks, range(weights.shape[0]), range(weights.shape[1]), tokens, keys)


def glance_of_blocks(
    blocks: Callable[[int, int], Tensor],
    layer_numbers: Sequence[int],
    head_numbers: Sequence[int],
    tokens: Sequence[str],
    keys: Sequence[str],
    sizes: bool = False,
) -> go.Figure:
    """Picture the greatest weights of blocks of so many queries and keys, which `blocks` gives.

    blocks(queries, keys): (layers, heads, rows, columns), the last blocks being smaller; sizes:
    whether these are sizes of weights that may lie below 0.
    """
    layers, heads, rows, columns = map(len, (layer_numbers, head_numbers, tokens, keys))
    largest = WIDTH if layers * heads == 1 else LARGEST
    pixels = max(SMALLEST, min(largest, WIDTH // heads))
    share = GAP / pixels
    side = max(1, int(math.sqrt(MAX_CELLS / (layers * heads)) / (1 + share)))
    down, across = (math.ceil(length / side) for length in (rows, columns))
    shown = blocks(down, across)
    greatest = shown.amax((-2, -1), keepdim=True)
    of_layers = _Side("layer", layer_numbers, "query", tokens, down, share)
    of_heads = _Side("head", head_numbers, "key", keys, across, share)

    def beside(numbers: Tensor) -> Any:
        """(layers, heads, rows, columns) as one matrix, with gaps between the heads."""
        whole = numpy.full((layers, of_layers.step, heads, of_heads.step), numpy.nan, numpy.float32)
        whole[:, : of_layers.cells, :, : of_heads.cells] = numbers.transpose(1, 2).numpy()
        flat = whole.reshape(layers * of_layers.step, heads * of_heads.step)
        return flat[: -of_layers.gap, : -of_heads.gap]

    told = "greatest weight" if down * across > 1 else "weight"
    if sizes:
        told = f"size of the {told}"
    cells = {
        "type": "heatmap",
        "x": of_heads.labels(),
        "y": of_layers.labels(),
        "z": beside(shown / greatest.where(greatest > 0, 1.0)),
        "customdata": beside(shown),
        "zmin": 0.0,
        "zmax": 1.0,
        "showscale": False,
        "hoverongaps": False,
        "hovertemplate": f"%{{y}}<br>%{{x}}<br>{told} %{{customdata:.4f}}<extra></extra>",
    }
    layout = {
        "title": {"text": _words(rows, columns, down, across), "font": {"size": 13}, "x": 0.0},
        "xaxis": of_heads.axis(head_numbers) | {"side": "top"},
        "yaxis": of_layers.axis([f"layer {layer}" for layer in layer_numbers])
        | {
            "autorange": "reversed",
            "scaleanchor": "x",
            "scaleratio": of_heads.step / of_layers.step,
        },
        "height": layers * pixels + ROOM["t"] + ROOM["b"],
        "margin": ROOM,
        "plot_bgcolor": MASKED,
    }
    return drawn([cells], layout)


@dataclass(frozen=True)
class _Side:
    """Side of a picture: layers or heads of these numbers, and their tokens in blocks.

    share: how much of a head's size the gap beside it has.
    """

    name: str
    numbers: Sequence[int]
    role: str
    tokens: Sequence[str]
    block: int
    share: float

    @property
    def count(self) -> int:
        """Of layers or heads."""
        return len(self.numbers)

    @property
    def cells(self) -> int:
        """Of one head."""
        return math.ceil(len(self.tokens) / self.block)

    @property
    def gap(self) -> int:
        return math.ceil(self.cells * self.share)

    @property
    def step(self) -> int:
        """Cells from a head to the next one."""
        return self.cells + self.gap

    def labels(self) -> list[str]:
        """A label for each cell that is its own: which layer or head, and which tokens."""
        named = position_labels(self.tokens)
        firsts, lasts = named[:: self.block], [*named[self.block - 1 :: self.block], named[-1]]
        told = [
            f"{self.role} {first}" if first == last else f"{self.role} {first} to {last}"
            for first, last in zip(firsts, lasts, strict=False)
        ]
        each = [*told, *(f"gap {cell}" for cell in range(self.gap))]
        labels = [f"{self.name} {number}, {one}" for number in self.numbers for one in each]
        return labels[: -self.gap]

    def axis(self, names: Sequence[object]) -> dict[str, Any]:
        """Named in the middle of each layer or head, as many as do not run together."""
        some = range(0, self.count, math.ceil(self.count / MAX_TICKS))
        # Not half-way between two cells: plotly would tell the second one by the name there.
        middle = (self.cells - 1) / 2 - (0 if self.cells % 2 else 0.25)
        return {
            "type": "category",
            "tickvals": [number * self.step + middle for number in some],
            "ticktext": [names[number] for number in some],
            "tickangle": 0,
            "showgrid": False,
            "zeroline": False,
            "ticks": "",
            "constrain": "domain",
        }


def _words(rows: int, columns: int, down: int, across: int) -> str:
    cell = "one weight"
    if down * across > 1:
        cell = f"the greatest of {down} × {across} weights, so that no strong one is lost"
    return (
        f"{rows} queries down, {columns} keys across. One cell is {cell};"
        "<br>the last colour is a head's greatest weight."
    )
