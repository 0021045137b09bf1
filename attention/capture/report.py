"""A report on a run: every module that mixes tokens, kept or left out, and why."""

from __future__ import annotations

import html
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from attention.capture.mixing import UNSEEN

State = Literal["kept", "left out", "not asked for"]
COLUMNS = ("module", "state", "words")


@dataclass(frozen=True)
class Row:
    """One module. words: the shape of its attention, or why nothing of it was kept."""

    module: str
    state: State
    words: str


@dataclass(frozen=True)
class Report:
    """Rows in the order in which the attentions ran, those that were left out below them.

    notes: sentences on all of it: why there are several runs, and what cannot be seen.
    """

    rows: tuple[Row, ...]
    notes: tuple[str, ...] = (UNSEEN,)

    @property
    def left_out(self) -> tuple[Row, ...]:
        """The modules that mix tokens, or may, and are not kept though they were asked for."""
        return tuple(row for row in self.rows if row.state == "left out")

    def __str__(self) -> str:
        cells = [COLUMNS, *self._cells()]
        widths = [max(len(row[at]) for row in cells) for at in (0, 1)]
        lines = [f"{a:<{widths[0]}}  {b:<{widths[1]}}  {c}" for a, b, c in cells]
        return "\n".join([*lines, *self.notes])

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{name}</th>" for name in COLUMNS)
        body = "".join(
            f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in row)}</tr>"
            for row in self._cells()
        )
        notes = "".join(f"<p>{html.escape(note)}</p>" for note in self.notes)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{notes}"

    def _cells(self) -> Iterator[tuple[str, str, str]]:
        return ((row.module, row.state, row.words) for row in self.rows)
