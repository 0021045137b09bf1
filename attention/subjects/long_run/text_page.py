"""Where a long text is put in, and its map with the chosen token's new vector."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import streamlit as st

from attention.app.cached import runs
from attention.app.components.scene import draw as draw_scene
from attention.app.controls import notes, widgets, works
from attention.app.state import session
from attention.app.state.links import every_setting
from attention.app.state.shared import load_model
from attention.app.state.view import View
from attention.core.limits import MAX_SEEN
from attention.figures import result_words
from attention.hosting.uploads import NoRoom
from attention.inputs.text import plain
from attention.pipeline import Result, Settings
from attention.subjects.long_run import long_texts, map_page
from attention.subjects.long_run import scene as scenes
from attention.subjects.long_run.long_texts import LongText
from attention.subjects.long_run.numbers import Opened
from attention.subjects.long_run.opened_run import OpenedRun
from attention.subjects.long_run.text_words import (
    MAX_LETTERS,
    beginning_of,
    cleaned,
    is_mark,
    length_words,
    problem_of,
)
from attention.trained import sources
from attention.trained.models import goes_on
from attention.trained.sources import NONE

OPEN, TYPED, FILE = "long_open", "long_typed", "long_file"
MOST_KEPT = 2  # texts of a visit
LIKELIEST = 3
SEEN = 80  # letters of a text that stand in its place


def box(view: View) -> bool:
    """The text of a page in place of its sentence; False where it shows that.

    Where the visit does not keep the text that a link names, it is asked for.
    """
    if not view.page.long_texts:
        return False
    widgets.widget(view, "long")  # never seen: it keeps what is chosen here
    if words := session.visit().refused:
        session.change(refused="")
        notes.note(words)
    if not is_mark(view["long"]):
        return False
    missing, asked = long_texts.is_missing(view), long_texts.text_of(view)
    if missing:
        notes.note(
            "The text of this link was too long for a link, and this visit does not keep it. It "
            f"begins “{beginning_of(view['long'])}”: put it in here to see the same view."
        )
        _form()
    elif asked is None:
        reader = "The chosen model" if view["model"] != NONE else "What is chosen here"
        notes.note(f"{reader} reads no more than {MAX_SEEN} tokens: this is the sentence again.")
    with st.container(horizontal=True, vertical_alignment="center", key="long_text"):
        if asked:
            notes.note_quietly(f"{' '.join(asked.text[:SEEN].split())}…")
            _put_in("Change the text", asked.text)
        st.button("Back to the sentence", on_click=session.choose, args=("long", ""))
    if asked:
        model = load_model(asked.model)
        notes.caption(length_words(model, asked.pieces, len(asked.text)))
    return missing or asked is not None


def tokens(view: View) -> Sequence[str]:
    """The tokens from which one is chosen; none where a long text is shown, which has its map."""
    return () if long_texts.text_of(view) else runs.tokens_shown(view)


def examples(view: View) -> None:
    """Show the length of the sentence or text, and examples to start from."""
    if not view.calm:
        asked = long_texts.text_of(view)
        widgets.examples_row(view, asked.pieces if asked else None)


def offer(view: View) -> None:
    """A place to put a longer text in, where the page can show it."""
    hidden = view.calm or "s" in view.hidden or is_mark(view["long"])
    if not hidden and long_texts.is_offered(view):
        kept = view.visit.long_texts
        _put_in("A longer text", kept[-1].text if kept else "")


def _put_in(label: str, text: str = "") -> None:
    with st.popover(label, type="tertiary", key=OPEN, on_change="rerun"):
        _form(text)


def _form(text: str = "") -> None:
    with st.form("long_form", border=False):
        words = f"Up to {MAX_LETTERS:,} letters. They stay in this visit, no link carries them."
        st.text_area("Text", text, height=220, key=TYPED, placeholder=words)
        st.form_submit_button("Read it", on_click=_take_typed)
    st.file_uploader("Or a text file", type="txt", key=FILE, on_change=_take_file)


def _take_typed() -> None:
    given = st.session_state[TYPED]
    _take(given)
    if len(given) > MAX_LETTERS:
        st.session_state[TYPED] = given[:MAX_LETTERS]


def _take_file() -> None:
    file = st.session_state.get(FILE)
    if file is None:
        return
    try:
        _take(file.getvalue().decode("utf-8-sig"))
    except UnicodeDecodeError:
        session.change(refused="A text file must be in UTF-8, this one is not.")


def _take(given: str) -> None:
    """Show another text, or say why not, within a callback; one that fits becomes the sentence."""
    now, problem = session.view(), problem_of(given)
    if problem:
        session.change(refused=problem)
        return
    text, st.session_state[OPEN] = cleaned(given), False
    if every_setting()["s"].problem(sentence := plain(text)) is None:
        session.choose("s", sentence)
        session.choose("long", "")
        session.choose_query(long_texts.last_piece(now, sentence))
        return
    try:
        new = long_texts.keep(session.owner(TYPED).visit, text)
    except NoRoom as error:
        session.change(refused=f"This text cannot be kept: {error}.")
        return
    others = [one for one in now.visit.long_texts if one.mark != new.mark]
    session.change(long_texts=(*others[1 - MOST_KEPT :], new))
    if new.mark != now["long"]:
        session.choose("long", new.mark)
        session.choose_query(long_texts.last_piece(now, text))


def draw(view: View, asked: LongText) -> None:
    """The map of the chosen head over a text, and the chosen token's new vector."""
    if works.done(_task(view, asked)):
        settings = replace(view.settings(), s="")
        _layer(view, *long_texts.layer_of(asked, settings))


def draw_model(view: View, asked: LongText) -> None:
    """The next words after a text, and the map of the chosen head, as it was trained."""
    left, right = st.columns(2, gap="large")
    with left, st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        widgets.widget(view, "model", offered=sources.names()[1:], narrow=True, width=250)
        for name in ("layer", "head"):
            widgets.widget(view, name, width=110)
    model = load_model(asked.model)
    writes = goes_on(model)
    if not works.done(_task(view, asked, len(model.layers) if writes else 0)):
        return
    if writes:
        with right:
            draw_scene(
                scenes.next_words(*long_texts.next_words(asked, LIKELIEST)), key="next_words"
            )
    settings = Settings("", asked.model, view["layer"], head=view["head"])
    _layer(view, *long_texts.layer_of(asked, settings))


def _task(view: View, asked: LongText, more: int = 0) -> works.Task:
    """The work until a text has run up to the chosen layer. more: another one, 0 = none."""
    last = len(load_model(asked.model).layers) - 1
    return long_texts.task_of(asked, {min(view["layer"], last), more})


def _layer(view: View, result: Result, run: Opened) -> None:
    """The map of the chosen head, all heads of its layer, and what cannot be shown."""
    assert isinstance(run.weights, OpenedRun)
    title, below = result_words.head_words(result), partial(scenes.new_vector, result)
    mapped = map_page.Mapped(0, result.head, title)
    map_page.maps_of(view, run.weights, [mapped], below=below)
    choose = (range(result.layer.heads).__contains__, partial(session.choose, "head"))
    draw_scene(
        scenes.layer_of_text(result, run), key="layer_heads", taken={"glance": {"head": choose}}
    )
