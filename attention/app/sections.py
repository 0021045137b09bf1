"""Parts of a page that several pages have."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from attention.app import notes, session
from attention.components.pictures import picture, place_of
from attention.pipeline import Result


def attention_of(read: Callable[[], Result | None], after: str = "") -> None:
    """Who attends to whom in a result, and the chosen token's new vector as a weighted sum.

    read: gives the result, also when the fragment inside runs alone; after: what the heatmap's
    caption ends with.
    """
    result = read()
    if result is None:
        return
    memory = result.memory
    picture(
        result.trace,
        result.tokens,
        result.known,
        session.place(),
        key="picture",
        memory=None if memory is None else (memory.tokens, memory.known),
        masks=result.masks,
        head=result.head if result.layer.heads > 1 else None,
        caption=("", after),
    )
    notes.note_problems(result)
    notes.note_head(result)
    _rest(read)


@st.fragment
def _rest(read: Callable[[], Result | None]) -> None:
    """What the server adds to the chosen token: the words nearest to it, and files."""
    result = read()
    if result is None:
        return
    place_of(session.place(), session.choose_place, key="place")
    query = min(session.value_of("query"), len(result.tokens) - 1)
    notes.nearest_words(result, query)
    notes.downloads(result, query)
