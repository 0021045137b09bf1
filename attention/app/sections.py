"""Parts of a page that several pages have."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from attention.app import notes, widgets
from attention.components.tokens import token_view
from attention.pipeline import Result


def attention_of(
    read: Callable[[], Result | None], caption: Callable[[Result], str] = lambda result: ""
) -> None:
    """Who attends to whom in a result, and the chosen token's new vector as a weighted sum.

    read: gives the result, also when the fragment inside runs alone; caption: words under the
    heatmap.
    """
    result = read()
    if result is None:
        return
    notes.note_problems(result)
    left, right = st.columns([5, 7], gap="large")
    with left:
        query = widgets.query_control(result)
    with right:
        _heatmap(read, query, caption)
    with left:
        memory = result.memory
        token_view(
            result.tokens,
            result.known,
            result.trace.weights,
            result.trace.mask,
            query,
            widgets.choose_query,
            key="tokens",
            memory=None if memory is None else (memory.tokens, memory.known),
        )
        notes.note_masks(result, query)
    notes.note_head(result)
    notes.weighted_sum_of(result, query)
    notes.downloads(result, query)


@st.fragment
def _heatmap(
    read: Callable[[], Result | None], query: int, caption: Callable[[Result], str]
) -> None:
    """One stage of the computation as a heatmap."""
    if result := read():
        widgets.stage_of(result, query)
        if words := caption(result):
            st.caption(words)
