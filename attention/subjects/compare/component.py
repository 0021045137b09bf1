"""Comparison of two matrices of weights: two heatmaps, their difference, and each row's bits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

import torch

from attention.app.components.base import Component
from attention.app.components.pictures import Selection, SelectionHeader, now
from attention.figures import files
from attention.subjects.compare.words import Comparison


class ComparisonHeader(TypedDict):
    size: int
    names: list[str]
    changed: list[bool]
    both: list[bool]
    absent: list[list[bool]]
    titles: list[str]
    selection: SelectionHeader


_comparison = Component("comparison", ComparisonHeader)


def comparison(
    compared: Comparison,
    titles: Sequence[str],
    selection: Selection,
    *,
    key: str,
) -> None:
    """Two heatmaps of weights, their difference, and how far each row diverges.

    titles: of the three heatmaps; selection: as in `picture`. What is hidden is hatched. Pointing
    at a cell tells its numbers on both sides; a click or the arrow keys choose a row.
    """
    names = compared.names
    for title, weights in zip(
        titles, (compared.a, compared.b, compared.b - compared.a), strict=True
    ):
        files.offer_matrix(f"weights {title}", weights, names, names)
    files.offer_matrix("divergence of each row", compared.divergence[:, None], names, ("bits",))
    absent = [(~compared.in_a).tolist(), (~compared.in_b).tolist(), []]
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
        "absent": absent,
        "titles": list(titles),
        "selection": now(selection),
    }
    _comparison.draw(header, *sides, compared.divergence.float(), key=key)
