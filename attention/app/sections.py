"""Parts of a page that several pages have."""

from __future__ import annotations

import streamlit as st

from attention.app import notes, results, session
from attention.components.pictures import picture, place_of
from attention.lessons import trained
from attention.pipeline import Result, Settings


def attention_of(result: Result, after: str = "") -> None:
    """Who attends to whom in a result, and the chosen token's new vector as a weighted sum.

    after: what the heatmap's caption ends with.
    """
    if result.settings.join == "words" and result.trained is not None:
        _joined(result)
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
    _rest(result.settings, result.memory_text)


def _joined(result: Result) -> None:
    """The weights of a trained model's pieces, joined into words."""
    joined = trained.joined(result)
    picture(
        joined.trace,
        joined.tokens,
        [True] * len(joined.tokens),
        session.place(),
        key="picture",
        parts=("lines", "heatmap"),
        memory=(joined.keys, [True] * len(joined.keys)) if result.memory else None,
        head=result.head,
        caption=("Pieces joined into words: rows averaged, columns summed.", ""),
    )
    notes.note_problems(result)


@st.fragment
def _rest(settings: Settings, memory: str | None) -> None:
    """What the server adds to the chosen token: the words nearest to it, and files."""
    result = results.result_of(settings, memory)
    place_of(session.place(), session.choose_place, key="place")
    query = min(session.value_of("query"), len(result.tokens) - 1)
    notes.nearest_words(result, query)
    notes.downloads(result, query)
