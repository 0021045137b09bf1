"""Figures of Explore: two heatmaps with their difference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict

import torch

from attention.figures import files
from attention.figures.scene import Figure
from attention.subjects.explore.against.words import Comparison


class ComparisonHeader(TypedDict):
    """Header before the weights of A, of B, and the divergence of each row."""

    size: int
    names: Sequence[str]
    changed: Sequence[bool]
    both: Sequence[bool]
    absent: Sequence[Sequence[bool]]
    titles: Sequence[str]
    signed: bool  # whether weights of a side may lie below 0


@dataclass(frozen=True, eq=False)
class ComparedHeatmaps(Figure, kind="comparison", header=ComparisonHeader):
    """Two heatmaps of weights, their difference, and how far each row diverges.

    titles: of the three heatmaps. What is hidden is hatched. Pointing at a cell tells its numbers
    on both sides; a click or the arrow keys choose a row.
    """

    compared: Comparison
    titles: Sequence[str]

    def content(self) -> bytes:
        compared = self.compared
        sides = (
            weights.masked_fill(hidden | ~(there[:, None] & there), torch.nan)
            for weights, hidden, there in (
                (compared.a, compared.hidden_a, compared.in_a),
                (compared.b, compared.hidden_b, compared.in_b),
            )
        )
        return self.sent(
            *sides,
            compared.divergence.float(),
            size=len(compared.names),
            names=compared.names,
            changed=compared.changed.tolist(),
            both=(compared.in_a & compared.in_b).tolist(),
            absent=[(~compared.in_a).tolist(), (~compared.in_b).tolist(), []],
            signed=any(weighing.signed for weighing in compared.weighings),
        )

    def offer(self) -> None:
        compared, names = self.compared, self.compared.names
        shown = (compared.a, compared.b, compared.b - compared.a)
        for title, weights in zip(self.titles, shown, strict=True):
            files.offer_matrix(f"weights {title}", weights, names, names)
        bits = compared.divergence[:, None]
        files.offer_matrix("divergence of each row", bits, names, ("bits",))
