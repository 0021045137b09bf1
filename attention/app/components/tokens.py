"""Queries and keys as text, joined by lines as strong as their weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypedDict

import torch
from torch import Tensor

from attention.app.components.base import Component
from attention.app.components.selection import Selection, SelectionHeader, now
from attention.figures import files
from attention.figures.layer_words import LayerLines


class HeadViewHeader(TypedDict):
    """Header of the component, besides numbers."""

    tokens: list[str]
    known: list[bool]
    heads: int
    whole: bool
    active: list[int]
    query: int
    selection: SelectionHeader


_head_view = Component("head_view", HeadViewHeader, active=list[int])


def head_view(
    tokens: Sequence[str],
    known: Sequence[bool],
    weights: Tensor,
    active: Sequence[int],
    query: int,
    selection: Selection,
    on_active: Callable[[list[int]], None],
    *,
    key: str,
) -> None:
    """Queries and keys as text, joined by lines in one colour per head, as strong as their weights.

    weights: of the edges to draw, 0 elsewhere, (heads, queries, keys), or (heads, 1, keys) of that
    query alone; active: the heads drawn; selection: as in `picture`. A click on a head's button
    turns it on or off, a double click (or one with shift) keeps it alone: on_active gets the heads
    then active.
    """
    heads, rows, _ = weights.shape
    if rows == 1:
        names = [f"head {head}" for head in range(heads)]
        files.offer_matrix("weights of all heads drawn as lines", weights[:, 0], names, tokens)
    header: HeadViewHeader = {
        "tokens": list(tokens),
        "known": list(known),
        "heads": heads,
        "whole": rows == len(tokens),
        "active": list(active),
        "query": query,
        "selection": now(selection),
    }
    fits = (lambda chosen: all(head in range(heads) for head in chosen), on_active)
    _head_view.draw(header, weights, key=key, active=fits)


class LayerLinesHeader(TypedDict):
    """Header of the component: besides weights, which of them are drawn, and of which head."""

    tokens: list[str]
    layers: list[str]
    query: int
    byHead: bool
    selection: SelectionHeader


_layer_lines = Component("layer_lines", LayerLinesHeader)


def layer_lines(
    lines: LayerLines,
    tokens: Sequence[str],
    titles: Sequence[str],
    query: int,
    selection: Selection,
    *,
    key: str,
) -> None:
    """Layers across, tokens down: lines from a token back to those it looks at in each layer.

    titles: of the layers; query: the token; selection: as in `picture`. Pointing at a layer or a
    token tells its numbers; a click or arrow keys choose a token, arrow keys go through the layers.
    """
    of = f"token {query}"
    files.offer_matrix(f"{lines.kind} of the heads, by layer", lines.weights, titles, tokens, of=of)
    header: LayerLinesHeader = {
        "tokens": list(tokens),
        "layers": list(titles),
        "query": query,
        "byHead": lines.heads is not None,
        "selection": now(selection),
    }
    parts = [lines.drawn] if lines.heads is None else [lines.drawn, lines.heads]
    rest = b"".join(part.to(torch.uint8).numpy().tobytes() for part in parts)
    _layer_lines.draw(header, lines.weights, key=key, rest=rest)
