"""All heads as small heatmaps, one to be chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from attention.analysis.heads import MEASURES, PLAIN_DOTS, Overview
from attention.core.printing import percent
from attention.figures.glance import HeadGridHeader
from attention.figures.messages import message
from attention.figures.scene import Figure


@dataclass(frozen=True, eq=False)
class HeadGrid(Figure, kind="head_grid", header=HeadGridHeader, head=int, guess=int):
    """All heads as small heatmaps on one canvas, one to be chosen by click or arrow keys.

    dots: uint8 (heads, rows, columns), each the greatest of block × block weights, see
    `heads.Overview`; n_tokens: how many there are; head: the chosen one; layer_names: where the
    heads are those of several layers, in a row each, what these are called; said: what is said of
    each head beside its number, empty where nothing is; marked: the head that a question asks for,
    −1 = none; plain: whether the last colour is a head's greatest weight however many dots there
    are; asks: whether a click is a guess, and arrow keys alone choose; absent: heads that a
    layer has not, which have no tile; sizes: whether the dots are sizes of weights, which may lie
    below 0. It answers `head`, the one chosen, or `guess`.
    """

    dots: Tensor
    block: int
    n_tokens: int
    head: int
    layer_names: Sequence[str] = ()
    said: Sequence[str] = ()
    marked: int = -1
    plain: bool = False
    asks: bool = False
    absent: Sequence[int] = ()
    sizes: bool = False

    def content(self) -> bytes:
        heads, rows, columns = self.dots.shape
        header: HeadGridHeader = {
            "heads": heads,
            "rows": rows,
            "columns": columns,
            "block": self.block,
            "tokens": self.n_tokens,
            "saturated": not self.plain and max(rows, columns) > PLAIN_DOTS,
            "chosen": self.head,
            "layerNames": list(self.layer_names),
            "said": list(self.said),
            "marked": self.marked,
            "asks": self.asks,
            "absent": list(self.absent),
            "sizes": self.sizes,
        }
        return message(header, rest=self.dots.numpy().tobytes())


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
