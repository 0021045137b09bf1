"""Working of one number: a sentence, its terms in a table, and their total."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypedDict

from attention.figures.scene import Figure, Table, TableHeader
from attention.figures.tables import Cell, number, whole_number, with_integers

MAX_ROWS, FEWER_ROWS = 64, 32
TITLE = "working of the chosen cell"


class WorkingHeader(TypedDict):
    """A sentence, and tables: one, or none; folded: these are closed at first."""

    text: str
    folded: bool
    tables: Sequence[TableHeader]


@dataclass(frozen=True, eq=False)
class Working(Figure, kind="working", header=WorkingHeader, light=True):
    """Working of one number: named columns, one row per term; the last column adds up to it.

    text: what is worked out, in a sentence; names: what the rows are called; total: the sum of the
    last column, with its name; totals: in its place the cells of a last row, its name first, where
    several columns add up; folded: whether the table is closed until its text is clicked. Of more
    than `MAX_ROWS` terms of a total the largest are shown, and the sum of the others.
    """

    text: str
    names: Sequence[str] = ()
    columns: Mapping[str, Sequence[Cell]] = field(default_factory=dict)
    total_name: str = ""
    total: float | None = None
    totals: Sequence[str] = ()
    folded: bool = False

    @property
    def _written_total(self) -> str:
        """The total as it is shown, as an integer where the terms are integers; "" for none."""
        if self.total is None:
            return ""
        *_, last = self.columns.values()
        whole = all(cell == round(cell) for cell in last if isinstance(cell, int | float))
        return whole_number(self.total) if whole else number(self.total)

    @property
    def table(self) -> Table:
        """The terms and their total."""
        names, columns = list(self.names), {name: list(its) for name, its in self.columns.items()}
        if self.total is None:
            return Table(TITLE, names, with_integers(columns), self.totals)
        if len(names) > MAX_ROWS:
            names, columns = _largest(names, columns)
        total = [self.total_name, *[""] * (len(columns) - 1), self._written_total]
        return Table(TITLE, names, with_integers(columns), total)

    def content(self) -> bytes:
        return self.sent(tables=[self.table.header()] if self.columns else [])

    def offer(self) -> None:
        if self.columns:
            self.table.offer()


def _largest(
    names: Sequence[str], columns: Mapping[str, Sequence[Cell]]
) -> tuple[list[str], dict[str, list[Cell]]]:
    """The rows with the largest terms, in their own order, and the sum of the others."""
    *_, (last, its) = columns.items()
    terms = [cell for cell in its if isinstance(cell, int | float)]
    order = sorted(range(len(names)), key=lambda row: -abs(terms[row]))
    kept, rest = sorted(order[:FEWER_ROWS]), order[FEWER_ROWS:]
    others = {last: math.fsum(terms[row] for row in rest)}
    return [*(names[row] for row in kept), f"{len(rest)} more"], {
        name: [*(cells[row] for row in kept), others.get(name, "")]
        for name, cells in columns.items()
    }
