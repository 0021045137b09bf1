"""Queries and keys as text, joined by lines as strong as their weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st
from torch import Tensor

from attention.components.base import component, message

_head_view = component("head_view")


def head_view(
    tokens: Sequence[str],
    known: Sequence[bool],
    weights: Tensor,
    active: Sequence[int],
    query: int,
    on_select: Callable[[int], None],
    on_active: Callable[[list[int]], None],
    *,
    key: str,
) -> None:
    """Queries and keys as text, joined by lines in one colour per head, as strong as their weights.

    weights: of the edges to draw, 0 elsewhere, (heads, queries, keys), or (heads, 1, keys) of the
    chosen query alone; active: the heads drawn. A click on a head's button turns it on or off, a
    double click (or one with shift) keeps it alone: on_active gets the heads then active. Queries
    are chosen as in `token_view`.
    """
    heads, rows, _ = weights.shape

    def selected() -> None:
        position = st.session_state[key].query
        if isinstance(position, int) and 0 <= position < len(tokens):
            on_select(position)

    def toggled() -> None:
        match st.session_state[key].active:
            case [*chosen] if all(isinstance(head, int) for head in chosen):
                on_active([head for head in chosen if 0 <= head < heads])

    header = {
        "tokens": list(tokens),
        "known": list(known),
        "heads": heads,
        "whole": rows == len(tokens),
        "active": list(active),
        "query": query,
    }
    _head_view(
        key=key,
        data=message(header, weights),
        on_query_change=selected,
        on_active_change=toggled,
    )
