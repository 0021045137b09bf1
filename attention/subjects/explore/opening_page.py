"""Explore without its numbers: a sentence to read from afar, and where its words look.

The bare address opens on it, see `Opening`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import streamlit as st

from attention.app.cached import kept, runs
from attention.app.components.inputs import focus_button
from attention.app.components.pictures import Switch, picture
from attention.app.components.selection import tell_selection
from attention.app.controls import notes, widgets
from attention.app.controls.part import part
from attention.app.state import session
from attention.app.state.links import every_setting
from attention.app.state.openings import HIDDEN, OPENINGS, SHOWN, Opening, opening
from attention.app.state.view import View
from attention.core.functional import WeightsAlone
from attention.core.variants import VARIANTS
from attention.figures import layer_words, result_words
from attention.figures.picture import CALM_PARTS, Picture, Said
from attention.inputs.text import plain
from attention.pipeline import Result
from attention.subjects.explore import pronoun_words
from attention.subjects.long_run import long_texts, text_page
from attention.trained import sources
from attention.trained.sources import NONE

READER = "reader"
CONTENT_BYTES = 4 << 20  # of an ordinary sentence 0.02 MB


def has_title(view: View) -> bool:
    """True if the picture of a view has the page's title, a question on the chosen word."""
    return view.calm and _drawn(view) is not None


def ways_on(view: View) -> None:
    """The ways on: to the guide, and to a sentence of one's own; from all the numbers the way
    back."""
    if not view.page.first:
        return
    widgets.widget(view, "numbers")  # never seen: it keeps what the buttons here choose
    if st.context.is_embedded or view.hidden:
        return
    with st.container(horizontal=True, width="content", key="ways_on"):
        if view.calm:
            st.page_link("pages/guide.py", label="Take the guide")
            focus_button("Type your own", widgets.BOX, key="type_own")
            if opening_of(view):
                st.html("<i class='own-later'></i>")
        else:
            text_page.offer(view)
            st.button("Hide the numbers", on_click=session.choose, args=("numbers", HIDDEN))


def opening_of(view: View) -> Opening | None:
    """The opening whose sentence a view has, with either of its endings."""
    return next((one for one in OPENINGS.values() if view["s"] in one.sentences), None)


def _drawn(view: View) -> Result | None:
    """Result that is drawn with arcs; None where there are no words, or too many, or a layer looks
    at others."""
    result = None if long_texts.text_of(view) else runs.current_result(view)
    return None if result is None or not result.of_sentence else result


def draw(view: View) -> bool:
    """The sentence with its arcs, and below it the heatmap, the settings and the new vector.

    False, and nothing, where it cannot be drawn so.
    """
    result = _drawn(view)
    if result is None:
        return False
    opening = opening_of(view)
    other = _other(view, opening)
    shown, switch = _picture(result), None
    if opening and other:
        switch = Switch(opening.endings, _content_of(other, result), partial(_take, opening))
    content = _content_of(result, other)
    draw_part = partial(picture, shown, view.selection, content=content)
    draw_part(key="arcs", drawn=["arcs"], switch=switch)
    _notes(view, result)
    left, right = st.columns([5, 8], gap="large")
    with left:
        draw_part(key="picture", drawn=["heatmap"])
    with right:
        _settings(view, result)
        if "mixture" in shown.parts:
            draw_part(key="mixture", drawn=["mixture"])
        _onward(result)
    _tell(view)
    return True


def _take(opening: Opening, ending: int) -> None:
    """Show the sentence of an opening with that ending, within a callback."""
    session.choose("s", opening.sentences[ending])


def _other(view: View, opening: Opening | None) -> Result | None:
    """The result with the other ending; None where the sentence is not that of an opening."""
    if opening is None:
        return None
    first, second = opening.sentences
    other = second if view["s"] == first else first
    return runs.result_of(replace(view.settings(), s=other))


def _picture(result: Result) -> Picture:
    """Picture that the opening draws of a result, but for what is said of it."""
    tokens, _, trace = layer_words.shown(result)
    joined = isinstance(trace, WeightsAlone)
    return Picture(
        trace,
        tokens if joined else pronoun_words.as_typed(plain(result.settings.s), tokens),
        [True] * len(tokens) if joined else result.known,
        parts=[part for part in CALM_PARTS if not joined or part != "mixture"],
        masks={} if joined else result.masks,
        head=result.head if result.layer.heads > 1 else None,
        stage="weights",
        of=result_words.head_words(result),
        most=1.0,
        calm=True,
    )


@kept(
    nbytes=CONTENT_BYTES,
    key=lambda result, other: (result.settings, other and other.settings),
    together=True,
)
def _content_of(result: Result, other: Result | None) -> bytes:
    """Content of the picture of a result, the same for all who see it.

    other: the result with another last word, of which it says what that would change.
    """
    shown = _picture(result)
    second = None if other is None else layer_words.shown(other)
    lines = pronoun_words.lines_of(shown.trace, shown.tokens, second and (second[0][-1], second[2]))
    said = [Said(question=question, line=line) for question, line in lines]
    return replace(shown, said=said).content()


def _notes(view: View, result: Result) -> None:
    """Note what to know of this sentence, and what could not be used as it was set."""
    notes.note_unknown_words(result.unknown)
    for words in [*result.notes, *pronoun_words.to_expect(result, plain(view["s"]))]:
        notes.note(words)


def _settings(view: View, result: Result) -> None:
    """The settings that change most, in one row."""
    with st.container(horizontal=True, gap="small", key="calm_settings"):
        head, *others = (name for name in widgets.CALM if name == "head" or view.applies(name))
        if result.layer.heads > 1:
            widgets.widget(view, head, help=None, width=96)
        _reader_menu(view, width=170)
        for name in others:
            widgets.widget(view, name, narrow=True, listed=True, boxed=True, help=None, width=150)


def _onward(result: Result) -> None:
    """The way to all the numbers, and in small letters who reads the sentence."""
    with st.container(key="to_numbers"):
        st.button("Show the numbers", on_click=session.choose, args=("numbers", SHOWN))
    notes.caption(" ".join(_reader(result)))


def _reader(result: Result) -> Sequence[str]:
    """Name the reader of the sentence, and what is not as it was trained, in sentences."""
    if result.trained is None:
        return [f"{VARIANTS[result.settings.variant].title} on word vectors."]
    title = sources.about(result.settings.model).title
    said = [f"{title}, {result_words.head_words(result)}."]
    changed = "; ".join(result.changes)
    return [*said, f"Not as it was trained: {changed}."] if changed else said


@part
def _tell(view: View) -> None:
    """Tells the server which word is chosen."""
    tell_selection(view.selection, session.select)


def _reader_menu(view: View, width: int) -> None:
    """The menu of variants on word vectors, and first a trained model where there is one."""
    model, variant = view["model"], view["variant"]
    if not view.applies("model"):
        widgets.variant_menu(view, "variant")
    elif not view.hidden & {"model", "variant"}:
        about = every_setting()["variant"]
        st.session_state[READER] = variant if model == NONE else widgets.AS_TRAINED
        options = (widgets.AS_TRAINED, *about.choices)
        st.selectbox(
            about.label, options, key=READER, width=width, on_change=_take_reader, args=(variant,)
        )


def _take_reader(before: str) -> None:
    """Show the trained model of the opening, or a variant on word vectors, within a callback.

    before: the variant that was chosen until now.
    """
    chosen = st.session_state[READER]
    if chosen == widgets.AS_TRAINED:
        for name, value in opening().chosen.items():
            session.choose(name, value)
    else:
        session.choose("model", NONE)
        session.choose("variant", chosen)
        widgets.propose_scale("variant", before)
