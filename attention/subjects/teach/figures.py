"""Figure of the answers of a class: choices, each with a bar once they are counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from attention.figures.scene import Table, TableHeader
from attention.figures.tables import Cell
from attention.subjects.guide.votes import Vote


@dataclass(frozen=True, eq=False)
class Choices(Table):
    """Choices alone, or once counted with a bar for each vote over the whole width, the number of
    learners and their share of all."""

    def header(self) -> TableHeader:
        header = super().header()
        if not self.columns:
            return header
        bars = [shares[1::2] for shares in header["bars"]]
        lines = [
            [
                name,
                *(
                    f"{n} · {100 * (share or 0):.0f} %"
                    for n, share in zip(cells[::2], shares, strict=True)
                ),
            ]
            for (name, *cells), shares in zip(header["lines"], bars, strict=True)
        ]
        return {**header, "columns": header["columns"][::2], "lines": lines, "bars": bars}

    def offer(self) -> None:
        if self.columns:
            super().offer()


def choices(
    title: str, names: Sequence[str], counts: Mapping[Vote, Sequence[int]], key: str
) -> Choices:
    """Choices of learners; counts: in each vote that is to be seen; title: its file is called after
    it."""
    columns: dict[str, Sequence[Cell]] = {}
    for vote, its in counts.items():
        columns[f"{vote.capitalize()} vote"] = [str(count) for count in its]
        columns[f"share of the {vote}"] = [count / max(sum(its), 1) for count in its]
    return Choices(title, names, columns, shares=True, key=key)
