"""Cells that queries may look at, to be painted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict

from attention.figures.scene import Figure


class Paint(TypedDict):
    """Some (query, key) cells, and whether they may attend from now on."""

    cells: list[tuple[int, int]]
    allowed: bool


@dataclass(frozen=True, eq=False)
class MaskGrid(Figure, kind="mask_grid", paint=Paint):
    """A grid of the cells a query may look at, to click, drag over or reach by arrow keys.

    tokens: of the queries, down; keys: across; mask: (queries, keys), 1 = may look.
    """

    tokens: Sequence[str]
    keys: Sequence[str]
    mask: Sequence[Sequence[int]]

    def has(self, paint: Paint) -> bool:
        """True if all painted cells are there."""
        rows, columns = range(len(self.tokens)), range(len(self.keys))
        return all(row in rows and column in columns for row, column in paint["cells"])
