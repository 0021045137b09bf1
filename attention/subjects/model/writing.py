"""A model that writes on: piece by piece, until it is stopped or the sentence ends."""

from __future__ import annotations

import streamlit as st

from attention.analysis.continuing import SamplingSettings
from attention.app.components.scene import draw
from attention.app.controls import widgets
from attention.app.state import session, shared
from attention.app.state.view import View
from attention.app.state.visit import Writing
from attention.core.settings import settings_of
from attention.figures.scene import note, scene
from attention.subjects.model import continuations
from attention.subjects.model import scene as scenes
from attention.subjects.model.choices import take
from attention.trained.models import goes_on

PAUSE = 0.05  # seconds between one go at writing and the next
GO_ON = (("Add the likeliest", True), ("Pick at random", False))


def ways_on(view: View) -> None:
    """Ways to let a model go on, and what it has written so far."""
    if not goes_on(shared.load_model(view["model"])):
        return
    writing = view.visit.writing
    if writing is not None and (writing.model, writing.text) == asked_of(view):
        session.fragment(writes, PAUSE)()
        return
    for label, likeliest in GO_ON:
        st.button(label, on_click=go_on, args=(likeliest,))
    st.button("Keep writing", icon=":material/edit:", on_click=write)
    with st.popover("Temperature"):
        sampling(view)
    with st.container():  # what comes and goes leaves the place of the rest as it is
        asked, why = view.visit.not_added
        if why and asked == asked_of(view):
            draw(scene(note(why)), key="not_added")


def sampling(view: View) -> None:
    """Temperature, top k and top p, and what each makes of the likeliest pieces."""
    for name in settings_of(SamplingSettings):
        widgets.widget(view, name)
    draw(scenes.next_pieces(view), key="sampled_pieces")


def asked_of(view: View) -> tuple[str, str]:
    """Model that goes on, and its sentence."""
    return view["model"], view["s"]


def go_on(likeliest: bool) -> None:
    """Let the sentence grow by a piece, within a callback."""
    now = session.view()
    take(now, continuations.longer_sentence(now, likeliest))


def write() -> None:
    """Let the model write on until it is stopped, within a callback."""
    session.change(writing=Writing(*asked_of(session.view())))


def writes() -> None:
    """Shows the text while the model writes it, some pieces more each time."""
    now = session.view()
    if now.visit.writing is None:
        return
    with session.turn(now.page):
        writing, room = continuations.write_on(now, now.visit.writing)
    session.change(writing=writing)
    if not room:
        stop()
        st.rerun()
    with st.container(key="written"):
        st.text(continuations.text_written(writing))
    st.button("Stop", icon=":material/stop:", on_click=stop)


def stop() -> None:
    """Take over what was written so far, as far as it fits, within a callback."""
    now = session.view()
    if now.visit.writing is not None:
        session.change(writing=None)
        take(now, continuations.text_written(now.visit.writing))
