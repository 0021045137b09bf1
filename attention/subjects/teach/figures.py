"""Figure of the answers of a class: choices, each with a bar once they are counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict

from attention.figures import files
from attention.figures.scene import Figure


class ChoicesHeader(TypedDict):
    """Choices; once counted how often each was chosen, its share from 0 to 1, and in words."""

    names: Sequence[str]
    counts: Sequence[int]
    lengths: Sequence[float]
    shares: Sequence[str]


@dataclass(frozen=True, eq=False)
class Choices(Figure, kind="choices", header=ChoicesHeader, light=True):
    """Choices as a list, or counted as bars over the whole width, each with its share of all.

    title: its file is called after it; counts: none: not to be seen yet; learners: all of them.
    """

    title: str
    names: Sequence[str]
    counts: Sequence[int] = ()
    learners: int = 0

    @property
    def lengths(self) -> list[float]:
        """The share of all learners who chose each, from 0 to 1."""
        return [count / self.learners for count in self.counts]

    @property
    def shares(self) -> list[str]:
        """Shares of all learners in words."""
        return [f"{100 * length:.0f} %" for length in self.lengths]

    def offer(self) -> None:
        if self.counts:
            counts = [*map(str, self.counts)]
            files.offer_table(self.title, self.names, {"count": counts, "share": self.lengths})
