"""Tokens as text, joined by lines in the colours of heads, as strong as their weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict

from torch import Tensor

from attention.figures import files
from attention.figures.messages import message
from attention.figures.scene import Figure


class HeadViewHeader(TypedDict):
    """Header before the weights."""

    tokens: Sequence[str]
    known: Sequence[bool]
    heads: int
    whole: bool
    active: Sequence[int]
    query: int


@dataclass(frozen=True, eq=False)
class HeadLines(Figure, kind="head_view", header=HeadViewHeader, active=list[int]):
    """Queries and keys as text, joined by lines in one colour per head, as strong as their weights.

    weights: of the edges to draw, 0 elsewhere, (heads, queries, keys), or (heads, 1, keys) of the
    query alone; active: the heads drawn. A click on a head's button turns it on or off, a double
    click (or one with shift) keeps it alone: it answers `active`, the heads then active.
    """

    tokens: Sequence[str]
    known: Sequence[bool]
    weights: Tensor
    active: Sequence[int]
    query: int

    def content(self) -> bytes:
        heads, rows, _ = self.weights.shape
        header: HeadViewHeader = {
            "tokens": list(self.tokens),
            "known": list(self.known),
            "heads": heads,
            "whole": rows == len(self.tokens),
            "active": list(self.active),
            "query": self.query,
        }
        return message(header, self.weights)

    def offer(self) -> None:
        heads, rows, _ = self.weights.shape
        if rows == 1:
            names = [f"head {head}" for head in range(heads)]
            title = "weights of all heads drawn as lines"
            files.offer_matrix(title, self.weights[:, 0], names, self.tokens)

    def has(self, heads: Sequence[int]) -> bool:
        """True if there are these heads."""
        return all(head in range(len(self.weights)) for head in heads)
