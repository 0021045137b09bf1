"""All heads as small heatmaps, one to be chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from attention.analysis.heads import PLAIN_DOTS
from attention.figures.glance import HeadGridHeader
from attention.figures.messages import message
from attention.figures.scene import Figure


@dataclass(frozen=True, eq=False)
class HeadGrid(Figure, kind="head_grid", header=HeadGridHeader, head=int):
    """All heads as small heatmaps on one canvas, one to be chosen by click or arrow keys.

    dots: uint8 (heads, rows, columns), each the greatest of block × block weights, see
    `heads.thumbnails`; n_tokens: how many there are; head: the chosen one; layer_names: where the
    heads are those of several layers, in a row each, what these are called; earned: the names that
    the heads have earned, "" for none, empty where none has; plain: whether the last colour is a
    head's greatest weight however many dots there are. It answers `head`, the one chosen.
    """

    dots: Tensor
    block: int
    n_tokens: int
    head: int
    layer_names: Sequence[str] = ()
    earned: Sequence[str] = ()
    plain: bool = False

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
            "earned": list(self.earned),
        }
        return message(header, rest=self.dots.numpy().tobytes())
