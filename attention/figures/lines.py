"""Tokens as text, joined by lines as strong as their weights: of heads, and through layers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict

import torch
from torch import Tensor

from attention.figures import files
from attention.figures.layer_words import LayerLines
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


class LayerLinesHeader(TypedDict):
    """Header before the weights: which of them are drawn, and of which head."""

    tokens: Sequence[str]
    layers: Sequence[str]
    query: int
    byHead: bool


@dataclass(frozen=True, eq=False)
class LinesThroughLayers(Figure, kind="layer_lines", header=LayerLinesHeader):
    """Layers across, tokens down: lines from a token back to those it looks at in each layer.

    titles: of the layers; query: the token. Pointing at a layer or a token tells its numbers; a
    click or arrow keys choose a token, arrow keys go through the layers.
    """

    lines: LayerLines
    tokens: Sequence[str]
    titles: Sequence[str]
    query: int

    def content(self) -> bytes:
        lines = self.lines
        header: LayerLinesHeader = {
            "tokens": list(self.tokens),
            "layers": list(self.titles),
            "query": self.query,
            "byHead": lines.heads is not None,
        }
        parts = [lines.drawn] if lines.heads is None else [lines.drawn, lines.heads]
        rest = b"".join(part.to(torch.uint8).numpy().tobytes() for part in parts)
        return message(header, lines.weights, rest=rest)

    def offer(self) -> None:
        title, of = f"{self.lines.kind} of the heads, by layer", f"token {self.query}"
        files.offer_matrix(title, self.lines.weights, self.titles, self.tokens, of=of)
