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
    sizes: bool  # the dots are sizes of weights, which may lie below 0


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
            heads=heads,
            rows=rows,
            columns=columns,
            tokens=self.n_tokens,
            saturated=not self.plain and max(rows, columns) > PLAIN_DOTS,
            chosen=self.head,
            layerNames=self.layer_names,
        )


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
    block, dot = grid.block, "the size of a weight" if grid.sizes else "a weight"
    if block > 1:
        of = f"some rows of {block} × {block}" if some_rows else f"{block} × {block}"
        dot = f"the greatest of {of} {'sizes of ' if grid.sizes else ''}weights"
    return (
        f"{size[0]:,} queries down, {size[1]:,} keys across. Each square is {dot}; the strongest "
        "colour is the head's largest."
    )
