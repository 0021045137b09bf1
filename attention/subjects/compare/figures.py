"""Figures of Compare: two heatmaps with their difference, and a heatmap under a slider."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict

import torch

from attention.analysis.sweeps import Sweep
from attention.figures import files
from attention.figures.messages import message
from attention.figures.scene import Figure
from attention.subjects.compare.words import Comparison


class ComparisonHeader(TypedDict):
    """Header before the weights of A, of B, and the divergence of each row."""

    size: int
    names: Sequence[str]
    changed: Sequence[bool]
    both: Sequence[bool]
    absent: Sequence[Sequence[bool]]
    titles: Sequence[str]
    shares: bool  # whether no weight of either side is below 0


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
        header: ComparisonHeader = {
            "size": len(compared.names),
            "names": list(compared.names),
            "changed": compared.changed.tolist(),
            "both": (compared.in_a & compared.in_b).tolist(),
            "absent": [(~compared.in_a).tolist(), (~compared.in_b).tolist(), []],
            "titles": list(self.titles),
            "shares": all(compared.shares),
        }
        return message(header, *sides, compared.divergence.float())

    def offer(self) -> None:
        compared, names = self.compared, self.compared.names
        shown = (compared.a, compared.b, compared.b - compared.a)
        for title, weights in zip(self.titles, shown, strict=True):
            files.offer_matrix(f"weights {title}", weights, names, names)
        bits = compared.divergence[:, None]
        files.offer_matrix("divergence of each row", bits, names, ("bits",))


class SweepHeader(TypedDict):
    """Header before the scores that all stops of a slider are worked out from, and their bias."""

    kind: str
    size: int
    names: Sequence[str]
    values: Sequence[float]
    at: float
    shown: Sequence[float]
    block: int
    biased: bool
    digits: int


@dataclass(frozen=True, eq=False)
class SweptHeatmap(Figure, kind="sweep", header=SweepHeader, at=float):
    """Weights under a slider: each of its stops is worked out in the browser, from the scores.

    digits: of the numbers of the chosen row. It answers `at`, the value the slider is left at.
    """

    swept: Sweep
    names: Sequence[str]
    digits: int = 5

    def content(self) -> bytes:
        swept = self.swept
        masked = swept.base
        if swept.mask is not None:
            masked = masked.masked_fill(~swept.mask, torch.nan)
        header: SweepHeader = {
            "kind": swept.kind,
            "size": len(self.names),
            "names": list(self.names),
            "values": swept.values,
            "at": swept.at,
            "shown": swept.shown,
            "block": swept.block,
            "biased": swept.bias is not None,
            "digits": self.digits,
        }
        return message(header, *([masked] if swept.bias is None else [masked, swept.bias]))

    def offer(self) -> None:
        swept = self.swept
        title = "scores" if swept.kind == "scale" else "scores before the softmax"
        files.offer_matrix(title, swept.base, self.names, self.names, swept.mask)

    def has(self, value: float) -> bool:
        """True if the slider can be left at a value."""
        return self.swept.values[0] <= value <= self.swept.values[-1]
