"""A pupil's side of a class: its lesson, and what of the visit goes to the teacher's screen."""

from __future__ import annotations

import secrets

import streamlit as st

from attention.app.components.scene import draw
from attention.app.state import session
from attention.app.state.view import View
from attention.figures.scene import Words, note, scene
from attention.subjects.guide import chapter_page
from attention.subjects.guide.chapters import Chapter
from attention.subjects.guide.classes import CLASSES

PUPIL = "pupil"  # the name of the visit in its class; nothing else is known of it


def take_lesson(view: View) -> None:
    """Open the lesson of the class: its link has the name of the class alone, which is short."""
    room = CLASSES.find(view["room"])
    if room is not None and view["lesson"] == "guide" and room.lesson[0] != "guide":
        for name, value in zip(("lesson", "carried"), room.lesson, strict=True):
            session.choose(name, value)
        st.rerun()


def tell(view: View) -> None:
    """Tell the class what is chosen so far, and the pupil that it is told."""
    name = view["room"]
    if not name:
        return
    code, _ = chapter_page.result_code(view)
    told = "class" if CLASSES.tell(name, _pupil(), code) else "no_class"
    words = chapter_page.words_of(view)[told].format(name=name)
    draw(scene(note(words)), key="told_to_class")


def offer_to_send(view: View, chapter: Chapter) -> None:
    """A button that sends the pupil's own sentence to the class, where there is one."""
    room = CLASSES.find(view["room"])
    if room is None or not chapter_page.is_visitors(view, chapter):
        return
    sentence, words = chapter_page.sentence_of(view, chapter), chapter_page.words_of(view)
    if _pupil() in room.pupils and room.pupils[_pupil()].sentence == " ".join(sentence.split()):
        draw(scene(Words(words["sent"])), key="sent_sentence")
        return
    st.button(
        words["send"],
        key="send_sentence",
        on_click=_send,
        args=(view["room"], sentence),
    )


def _send(name: str, sentence: str) -> None:
    CLASSES.send(name, _pupil(), sentence)


def _pupil() -> str:
    name: str = st.session_state.setdefault(PUPIL, secrets.token_hex(8))
    return name
