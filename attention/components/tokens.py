"""Queries and keys as text, joined by lines as strong as their weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from attention.components.answers import when
from attention.components.base import component, message

_token_view = component("token_view")
_head_view = component("head_view")


def token_view(
    tokens: Sequence[str],
    known: Sequence[bool],
    weights: Tensor,
    mask: Tensor | None,
    query: int,
    on_select: Callable[[int], None],
    *,
    key: str,
    memory: tuple[Sequence[str], Sequence[bool]] | None = None,
) -> None:
    """Queries and keys as text, joined by lines as strong as the weights of one query.

    memory: the tokens of the keys and which are known, None where they are those of the queries;
    weights: (queries, keys); mask: (queries, keys) bool or None; query: the selected position.
    Hovering a query previews its row in the browser; a click, Enter or the arrow keys call
    on_select with its position.
    """
    shown = weights if mask is None else weights.masked_fill(~mask, torch.nan)
    header: dict[str, Any] = {"tokens": list(tokens), "known": list(known), "query": query}
    if memory is not None:
        header["memory"] = {"tokens": list(memory[0]), "known": list(memory[1])}

    _token_view(
        key=key,
        data=message(header, shown),
        on_query_change=when(key, "query", lambda row: row in range(len(tokens)), on_select),
    )


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
        on_query_change=when(key, "query", lambda row: row in range(len(tokens)), on_select),
        on_active_change=when(
            key,
            "active",
            lambda chosen: all(head in range(heads) for head in chosen),
            on_active,
        ),
    )
