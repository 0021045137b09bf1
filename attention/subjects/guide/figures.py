"""Figures of the guide: the card at its end, words to go on with, and a button that prints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from attention.figures.scene import Figure


@dataclass(frozen=True, eq=False)
class Card(Figure, kind="card", light=True):
    """A sentence and what a head sees in it, to be saved and shared.

    pieces: each with whether a space goes before it; weights: how much each is looked at; query:
    which one looks; following: the word that comes next, "" for none; told: lines below.
    """

    pieces: Sequence[tuple[str, bool]]
    weights: Sequence[float]
    query: int
    following: str
    told: Sequence[str]


@dataclass(frozen=True, eq=False)
class NextPieces(Figure, kind="next_pieces", piece=int):
    """Pieces that may come next, each with a bar of its probability.

    It answers `piece`, the position of the one clicked.
    """

    texts: Sequence[str]
    shares: Sequence[float]

    def has(self, position: int) -> bool:
        """True if a piece stands there."""
        return position in range(len(self.texts))
