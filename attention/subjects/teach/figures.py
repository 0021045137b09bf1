"""Figure of the answers of a class: choices, each with a bar once they are counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from attention.figures.scene import Table, TableHeader
from attention.figures.tables import Cell


@dataclass(frozen=True, eq=False)
class Choices(Table):
    """Choices alone, or once counted with a bar each over the whole width and its share of all."""

    def header(self) -> TableHeader:
        header = super().header()
        if not self.columns:
            return header
        lines = [
            [name, count, f"{100 * (share or 0):.0f} %"]
            for (name, count, _), (_, share) in zip(header["lines"], header["bars"], strict=True)
        ]
        return {**header, "lines": lines}

    def offer(self) -> None:
        if self.columns:
            super().offer()


def choices(
    title: str, names: Sequence[str], counts: Sequence[int], learners: int, key: str
) -> Choices:
    """Choices of learners; counts: none: not to be seen yet; title: its file is called after it."""
    columns: dict[str, Sequence[Cell]] = {
        "learners": [str(count) for count in counts],
        "share": [count / learners for count in counts],
    }
    return Choices(title, names, columns if counts else {}, shares=True, key=key)
