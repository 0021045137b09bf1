"""Queries and keys as text, joined by lines as strong as their weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypedDict

from torch import Tensor

from attention.components.base import Component
from attention.components.pictures import Place
from attention.display import files


class HeadViewHeader(TypedDict):
    """What the component is sent besides numbers."""

    tokens: list[str]
    known: list[bool]
    heads: int
    whole: bool
    active: list[int]
    query: int
    place: Place


_head_view = Component("head_view", HeadViewHeader, active=list[int])


def head_view(
    tokens: Sequence[str],
    known: Sequence[bool],
    weights: Tensor,
    active: Sequence[int],
    query: int,
    place: Place,
    on_active: Callable[[list[int]], None],
    *,
    key: str,
) -> None:
    """Queries and keys as text, joined by lines in one colour per head, as strong as their weights.

    weights: of the edges to draw, 0 elsewhere, (heads, queries, keys), or (heads, 1, keys) of that
    query alone; active: the heads drawn; place: as in `picture`. A click on a head's button turns
    it on or off, a double click (or one with shift) keeps it alone: on_active gets the heads then
    active.
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
        "place": place,
    }
    fits = (lambda chosen: all(head in range(heads) for head in chosen), on_active)
    _head_view.draw(header, weights, key=key, active=fits)
