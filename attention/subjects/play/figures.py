"""Figures of Play: two heatmaps with their difference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict

import torch

from attention.figures import files
from attention.figures.scene import Figure
from attention.subjects.play.against.words import Comparison


class ComparedMap(TypedDict):
    """One of the heatmaps: its title, the kind of its colours, and the number of the darkest."""

    title: str
    kind: str
    most: float


class ComparisonHeader(TypedDict):
    """Header before the weights of A and of B, their difference, and the divergence of each row.

    rest of the bytes: uint8 for each cell of the maps, 1 where it is of a token that is not there.
    """

    names: Sequence[str]
    changed: Sequence[bool]
    maps: Sequence[ComparedMap]


@dataclass(frozen=True, eq=False)
class ComparedHeatmaps(Figure, kind="comparison", header=ComparisonHeader):
    """Two heatmaps of weights, their difference, and how far each row diverges.

    titles: of the three heatmaps. What is hidden is hatched; hidden on one side alone, it counts as
    0 in the difference. Pointing at a cell tells its numbers; a click or the arrow keys choose a
    row.
    """

    compared: Comparison
    titles: Sequence[str]

    def content(self) -> bytes:
        compared = self.compared
        in_a, in_b, masked_a, masked_b = (
            *(compared.in_a, compared.in_b),
            *(compared.hidden_a, compared.hidden_b),
        )
        there = torch.stack([in_a, in_b, in_a & in_b])
        absent = ~(there[:, :, None] & there[:, None])
        masked = torch.stack([masked_a, masked_b, masked_a & masked_b])
        maps = torch.stack([compared.a, compared.b, compared.b - compared.a])
        maps = maps.masked_fill(absent | masked, torch.nan)
        a, b, difference = maps.nan_to_num(0).abs().amax((1, 2)).tolist()
        signed = any(weighing.signed for weighing in compared.weighings)
        weights = "diverging" if signed else "sequential"
        kinds = (weights, max(a, b)), (weights, max(a, b)), ("diverging", difference)
        return self.sent(
            maps,
            compared.divergence.float(),
            rest=absent.to(torch.uint8).numpy().tobytes(),
            names=compared.names,
            changed=compared.changed.tolist(),
            maps=[
                ComparedMap(title=title, kind=kind, most=most or 1.0)
                for title, (kind, most) in zip(self.titles, kinds, strict=True)
            ],
        )

    def offer(self) -> None:
        compared, names = self.compared, self.compared.names
        shown = (compared.a, compared.b, compared.b - compared.a)
        for title, weights in zip(self.titles, shown, strict=True):
            files.offer_matrix(f"weights {title}", weights, names, names)
        bits = compared.divergence[:, None]
        files.offer_matrix("divergence of each row", bits, names, ("bits",))
