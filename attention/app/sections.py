"""Parts of a page that several pages have."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from attention.app import notes, results, session
from attention.components.pictures import PARTS, picture, place_of
from attention.lessons import trained
from attention.pipeline import Result, Settings


def attention_of(result: Result, after: str = "") -> None:
    """Who attends to whom in a result, and the chosen token's new vector as a weighted sum.

    after: what the heatmap's caption ends with.
    """
    if result.settings.join == "words" and result.trained is not None:
        _joined(result)
        return
    figure = session.value_of("figure")
    picture_of(result, (figure,) if figure in PARTS else PARTS, ("", after))
    notes.note_problems(result)
    notes.note_head(result)
    _rest(result.settings, result.memory_text)


def picture_of(
    result: Result, parts: Sequence[str] = ("heatmap",), caption: tuple[str, str] = ("", "")
) -> None:
    """One head of a result, every step of it. parts, caption: as in `picture`."""
    memory = result.memory
    picture(
        result.trace,
        result.tokens,
        result.known,
        session.place(),
        key="picture",
        parts=parts,
        memory=None if memory is None else (memory.tokens, memory.known),
        masks=result.masks,
        head=result.head if "sum" in parts and result.layer.heads > 1 else None,
        caption=caption,
    )


def over_another(result: Result) -> bool:
    """Whether a layer attends over another sequence; then says where that is shown."""
    if result.memory is None:
        return False
    st.info(
        "This layer looks from one sentence at another. Explore and Trained show such layers; "
        "choose another layer to go on here."
    )
    return True


def _joined(result: Result) -> None:
    """The weights of a trained model's pieces, joined into words."""
    lines_and_weights(result, "picture", "Rows of a word are averaged, its columns summed.")
    notes.note_problems(result)


def lines_and_weights(
    result: Result, key: str, caption: str, parts: Sequence[str] = ("lines", "heatmap")
) -> None:
    """The weights of a trained model's head alone, its pieces joined into words where that is set.

    caption: what the heatmap's begins with.
    """
    shown = trained.shown(result, session.value_of("join") == "words")
    picture(
        shown.trace,
        shown.tokens,
        [True] * len(shown.tokens),
        session.place(),
        key=key,
        parts=parts,
        memory=(shown.keys, [True] * len(shown.keys)) if result.memory else None,
        head=result.head,
        caption=(caption, ""),
    )


@st.fragment
def _rest(settings: Settings, memory: str | None) -> None:
    """What the server adds to the chosen token: the words nearest to it, and files."""
    result = results.result_of(settings, memory)
    place_of(session.place(), session.choose_place, key="place")
    query = min(session.value_of("query"), len(result.tokens) - 1)
    notes.nearest_words(result, query)
    notes.offer_files(result, query)
