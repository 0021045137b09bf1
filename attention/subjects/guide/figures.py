"""Figures of the guide: the card at its end, words to go on with, and a button that prints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict

from attention.figures.messages import message
from attention.figures.scene import Figure


class CardHeader(TypedDict):
    """Pieces, each with whether a space goes before it, and what stands below them."""

    pieces: Sequence[tuple[str, bool]]
    weights: Sequence[float]
    query: int
    following: str
    told: Sequence[str]


@dataclass(frozen=True, eq=False)
class Card(Figure, kind="card", header=CardHeader, light=True):
    """A sentence and what a head sees in it, to be saved and shared.

    weights: how much each piece is looked at; query: which one looks; following: the word that
    comes next, "" for none; told: lines below.
    """

    pieces: Sequence[tuple[str, bool]]
    weights: Sequence[float]
    query: int
    following: str
    told: Sequence[str]

    def content(self) -> bytes:
        header: CardHeader = {
            "pieces": self.pieces,
            "weights": self.weights,
            "query": self.query,
            "following": self.following,
            "told": self.told,
        }
        return message(header)


class NextPiecesHeader(TypedDict):
    """Pieces by text, and the probability of each."""

    texts: Sequence[str]
    shares: Sequence[float]


@dataclass(frozen=True, eq=False)
class NextPieces(Figure, kind="next_pieces", header=NextPiecesHeader, piece=int):
    """Pieces that may come next, each with a bar of its probability.

    It answers `piece`, the position of the one clicked.
    """

    texts: Sequence[str]
    shares: Sequence[float]

    def content(self) -> bytes:
        header: NextPiecesHeader = {"texts": self.texts, "shares": self.shares}
        return message(header)

    def has(self, position: int) -> bool:
        """True if a piece stands there."""
        return position in range(len(self.texts))


class PrintButtonHeader(TypedDict):
    """Words on a button."""

    words: str


@dataclass(frozen=True, eq=False)
class PrintButton(Figure, kind="print_button", header=PrintButtonHeader):
    """A button that has the browser print the page."""

    label: str

    def content(self) -> bytes:
        header: PrintButtonHeader = {"words": self.label}
        return message(header)
