"""Parts of a page that several pages have."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from attention.app.cached import kept, runs
from attention.app.components.pictures import picture
from attention.app.components.selection import Selection, tell_selection
from attention.app.controls import notes
from attention.app.controls.part import part
from attention.app.state import session
from attention.app.state.view import View
from attention.core.functional import WeightsAlone
from attention.figures import layer_words, result_words
from attention.figures.picture import PARTS, Picture
from attention.pipeline import Result, Settings

CONTENT_BYTES = 16 << 20  # that of 512 tokens takes 2.6 MB, of an ordinary sentence 0.02


def attention_of(
    view: View,
    result: Result,
    after: str = "",
    more: Callable[[View, Result, int], object] = lambda view, result, query: None,
) -> None:
    """Show the attention of a result, and the chosen token's new vector as a weighted sum.

    after: what the heatmap's caption ends with; more: draws what else there is of the chosen token.
    """
    if layer_words.words_of(result):
        lines_and_weights(view, result)
        notes.note_problems(result)
        return
    shown, content = whole_picture(view, result, after)
    picture(shown, view.selection, key="picture", content=content)
    with st.container():  # what comes and goes leaves the place of the rest as it is
        notes.note_problems(result)
        notes.note_head(result)
    _rest(view, result.settings, result.memory_text, more)


def whole_picture(view: View, result: Result, after: str = "") -> tuple[Picture, bytes]:
    """The picture of a result with all its parts, or with that a link asks for, and its content.

    after: what the heatmap's caption ends with.
    """
    figure = view["figure"]
    parts = (figure,) if figure in PARTS else PARTS
    shown = picture_of(result, parts, ("", after))
    return shown, _content_of(shown, (result.settings, result.memory_text, parts, after))


@kept(nbytes=CONTENT_BYTES, key=lambda shown, made_from: made_from, together=True)
def _content_of(shown: Picture, made_from: tuple[object, ...]) -> bytes:
    """Content of a picture, the same for all who see it."""
    return shown.content()


def picture_of(
    result: Result,
    parts: Sequence[str] = ("heatmap",),
    caption: tuple[str, str] = ("", ""),
    stage: str = "",
) -> Picture:
    """One head of a result, every step of it; the rest as `Picture` has it."""
    memory = result.memory
    return Picture(
        result.trace,
        result.tokens,
        result.known,
        parts=parts,
        memory=None if memory is None else (memory.tokens, memory.known),
        masks=result.masks,
        head=result.head if result.layer.heads > 1 else None,
        caption=caption,
        stage=stage,
        of=result_words.head_words(result),
    )


def over_another(result: Result) -> bool:
    """True if a layer attends over another sequence; then says where that is shown."""
    if result.memory is None:
        return False
    st.info(
        "This layer looks from one sentence at another. Explore and A real model show such layers; "
        "choose another layer to go on here."
    )
    return True


def weights_of(
    view: View, result: Result, caption: str, parts: Sequence[str] = ("heatmap",)
) -> None:
    """One head of a result: every step of it, or its weights alone where pieces are joined."""
    if layer_words.words_of(result):
        lines_and_weights(view, result, caption=caption, parts=parts)
    else:
        picture(picture_of(result, parts, (caption, "")), view.selection, key="picture")


def lines_and_weights(
    view: View,
    result: Result,
    key: str = "picture",
    caption: str = "",
    parts: Sequence[str] = ("lines", "heatmap"),
    selection: Selection | None = None,
) -> None:
    """The weights of a trained model's head alone, its pieces joined into words where that is set.

    caption: what the heatmap's begins with; selection: None = as all pages have it.
    """
    tokens, keys, trace = layer_words.shown(result)
    words = result_words.JOINED if layer_words.words_of(result) else ""
    averaged = isinstance(result.layer_trace, WeightsAlone)
    shown = Picture(
        WeightsAlone(trace.weights, trace.mask),
        tokens,
        [True] * len(tokens),
        parts=parts,
        memory=(keys, [True] * len(keys)) if result.memory else None,
        head=None if averaged else result.head,
        caption=(f"{caption} {words}".strip(), ""),
        of="mean of all heads" if averaged else result_words.head_words(result),
    )
    picture(shown, selection or view.selection, key=key)


@part
def _rest(
    view: View,
    settings: Settings,
    memory: str | None,
    more: Callable[[View, Result, int], object],
) -> None:
    """Show what the server adds to the chosen token: the words nearest to it, and files."""
    result = runs.result_of(settings, memory)
    tell_selection(view.selection, session.select)
    query = min(view["query"], len(result.tokens) - 1)
    notes.nearest_words(result, query)
    more(view, result, query)
    notes.offer_files(result, query)
