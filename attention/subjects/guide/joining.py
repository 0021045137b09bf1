"""A pupil's side of a class: its lesson, and what of the visit goes to the teacher's screen."""

from __future__ import annotations

import secrets

import streamlit as st

from attention.app.components.inputs import kept_name
from attention.app.components.scene import draw
from attention.app.state import session
from attention.app.state.view import View
from attention.figures.scene import Words, note, scene
from attention.hosting.addresses import network
from attention.subjects.guide import chapter_page
from attention.subjects.guide.chapters import Chapter
from attention.subjects.guide.classes import CLASSES

PUPIL = "pupil"  # the name of the browser in its class; nothing else is known of it
NAME_LETTERS = 32  # in base 16


def enter(view: View) -> View:
    """Open the lesson of the class, whose link has its name alone, and take up what this browser
    has told the class before."""
    room = CLASSES.find(view["room"])
    if room is None:
        _say_there_is_none(view)
        return view
    if view["lesson"] == "guide" and room.lesson[0] != "guide":
        for name, value in zip(("lesson", "carried"), room.lesson, strict=True):
            session.choose(name, value)
        st.rerun()
    kept_name.draw({"cookie": PUPIL, "value": _pupil(), "settings": {}}, key="kept_name")
    known = room.pupils.get(_pupil())
    return chapter_page.recall(view, known.code) if known else view


def tell(view: View) -> None:
    """Tell the class what is chosen so far, and the pupil that it is told."""
    name = view["room"]
    if not name:
        return
    code = chapter_page.result_code(view)[0] if chapter_page.learner(view) else ""
    if CLASSES.tell(name, _pupil(), code, address()):
        words = chapter_page.words_of(view)["class"].format(name=name)
        draw(scene(note(words)), key="told_to_class")
    elif CLASSES.find(name):  # it takes nobody else
        _say_there_is_none(view)


def _say_there_is_none(view: View) -> None:
    """Say that the class of the link, if there is one, is not open."""
    if name := view["room"]:
        words = chapter_page.words_of(view)["no_class"].format(name=name)
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
    CLASSES.send(name, _pupil(), sentence, address())


def address() -> str:
    """Network that this visit comes from."""
    return network(st.context.ip_address or "")


def _pupil() -> str:
    """Name of this browser, which it keeps for a day; of this visit where it keeps none."""
    kept = st.context.cookies.get(PUPIL, "")
    is_name = len(kept) == NAME_LETTERS and set(kept) <= set("0123456789abcdef")
    new = kept if is_name else secrets.token_hex(NAME_LETTERS // 2)
    name: str = st.session_state.setdefault(PUPIL, new)
    return name
