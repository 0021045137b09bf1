"""The box of a long text, in place of a page's sentence where it shows one."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from attention.app.cached import long_texts, runs
from attention.app.controls import notes, widgets
from attention.app.state import session
from attention.app.state.links import every_setting
from attention.app.state.long_texts import (
    MAX_LETTERS,
    beginning_of,
    cleaned,
    is_mark,
    problem_of,
)
from attention.app.state.shared import load_model
from attention.app.state.uploads import text_of
from attention.app.state.view import View
from attention.core.limits import MAX_SEEN
from attention.hosting.uploads import NoRoom
from attention.inputs.text import plain
from attention.trained.models import Model, Pieces
from attention.trained.sources import NONE

OPEN, TYPED, FILE = "long_open", "long_typed", "long_file"
MOST_KEPT = 2  # texts of a visit
SEEN = 80  # letters of a text that stand in its place


def box(view: View) -> bool:
    """The text of a page in place of its sentence; False where it shows that.

    Where the visit does not keep the text that a link names, it is asked for.
    """
    if not view.page.long_texts:
        return False
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
    asked = long_texts.text_of(view)
    widgets.examples_row(view, asked.pieces if asked else None)


def offer(view: View) -> None:
    """A place to put a longer text in, where the page can show it."""
    hidden = "s" in view.hidden or is_mark(view["long"])
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
        text = text_of(file)
    except ValueError as error:
        session.change(refused=str(error))
    else:
        _take(text)


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


def length_words(model: Model, pieces: Pieces, letters: int) -> str:
    """Count the pieces of a text, and those left out."""
    count, left_out = len(pieces.ids), pieces.left_out
    words = f"{letters:,} letters, {count:,} pieces"
    if not left_out:
        return f"{words}."
    return (
        f"{letters:,} letters, {count + left_out:,} pieces; {model.about.title} reads the first "
        f"{count:,} here, the other {left_out:,} are left out."
    )
