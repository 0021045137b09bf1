"""All heads as small heatmaps, one to be chosen."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypedDict

import torch
from torch import Tensor

from attention.analysis.heads import MEASURES, PLAIN_DOTS, Overview
from attention.core.printing import percent
from attention.figures.scene import Figure

MOST_DOTS, ALL_DOTS = 64, 1 << 20  # along a head, and of all heads: 1 MB


class HeadGridHeader(TypedDict):
    """All heads as small heatmaps to choose from.

    layers: what they are called, none: there is one; heads: of a layer.
    rest of the bytes: their dots, uint8 (heads, rows, columns).
    """

    heads: int
    rows: int
    columns: int
    chosen: int
    layers: list[str]
    said: list[str]
    caption: str


@dataclass(frozen=True, eq=False)
class HeadGrid(Figure, kind="head_grid", header=HeadGridHeader, head=int):
    """All heads as small heatmaps on one canvas, one to be chosen by click or arrow keys.

    dots: uint8 (heads, rows, columns), each the greatest of block × block weights, see
    `heads.Overview`; n_tokens: how many there are; head: the chosen one; layer_names: where the
    heads are those of several layers, in a row each, what these are called; said: what is said of
    each head beside its number, empty where nothing is; plain: whether the last colour is a head's
    greatest weight however many dots there are; sizes: whether the dots are sizes of weights, which
    may lie below 0. It answers `head`, the one chosen.
    """

    dots: Tensor
    block: int
    n_tokens: int
    head: int
    layer_names: Sequence[str] = ()
    said: Sequence[str] = ()
    plain: bool = False
    sizes: bool = False

    def content(self) -> bytes:
        heads, rows, columns = self.dots.shape
        return self.sent(
            rest=self.dots.numpy().tobytes(),
            heads=heads // max(1, len(self.layer_names)),
            rows=rows,
            columns=columns,
            chosen=self.head,
            layers=self.layer_names,
        )

    @property
    def caption(self) -> str:
        """Words on its squares and their colours."""
        lost = ", so that no strong one is lost" if self.block > 1 else ""
        saturated = not self.plain and max(self.dots.shape[1:]) > PLAIN_DOTS
        colour = (
            "the few largest of a head share the strongest colour"
            if saturated
            else "the strongest colour is this head's largest"
        )
        tokens = f"Queries down, keys across, {self.n_tokens} tokens"
        return f"{tokens}. Each square is {self.square()}{lost}; {colour}."

    def square(self, rows: str = "") -> str:
        """Words on a square. rows: on the rows that are looked at, "" = all."""
        if self.block == 1:
            return "the size of a weight" if self.sizes else "a weight"
        weights = "sizes of weights" if self.sizes else "weights"
        return f"the greatest of {rows}{self.block} × {self.block} {weights}"


def looks(seen: Overview) -> list[str]:
    """Tell of each head which kind of token has most of its weights, and how much."""
    shares = {
        MEASURES[name].words: numbers.tolist()
        for name, numbers in seen.measures.items()
        if MEASURES[name].targets is not None
    }
    of_heads = zip(*shares.values(), strict=True)
    most = [max(zip(each, shares, strict=True)) for each in of_heads]
    return [f"{percent(share)} on {words}" for share, words in most]


def grid_of_blocks(
    blocks: Callable[[int], Tensor],
    heads: int,
    size: tuple[int, int],
    layer_names: Sequence[str],
    sizes: bool = False,
) -> HeadGrid:
    """All heads of some layers, each coloured up to its own greatest weight.

    blocks: gives the greatest weight of each square of so many queries and keys, (heads, rows,
    columns); size: queries and keys; sizes: see `HeadGrid`.
    """
    cells = max(1, min(MOST_DOTS, math.isqrt(ALL_DOTS // heads)))
    block = -(-max(size) // cells)
    weights = blocks(block)
    greatest = weights.amax((-2, -1), keepdim=True)
    dots = (weights * (255 / greatest.where(greatest > 0, 1.0))).round().to(torch.uint8)
    return HeadGrid(dots, block, max(size), 0, layer_names, plain=True, sizes=sizes, key="heads")


def grid_words(grid: HeadGrid, size: tuple[int, int], some_rows: bool = False) -> str:
    """Describe the squares of such a grid. some_rows: True if not all rows are looked at."""
    square = grid.square("some rows of " if some_rows else "")
    across = f"{size[0]:,} queries down, {size[1]:,} keys across"
    return f"{across}. Each square is {square}; the strongest colour is the head's largest."
