"""The first screen: Explore with the sentence and settings of the bare address, see `Opening`."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from attention.app import results, sections, session
from attention.app.notes import note_quietly
from attention.app.pages import FIRST
from attention.app.view import View
from attention.app.widgets import BOX
from attention.components.inputs import focus_button, switch_word
from attention.lessons.opening import OPENINGS, Opening
from attention.trained.sources import NONE


def shown(view: View) -> Opening | None:
    """The opening whose sentence and settings a view has, whatever is chosen in the pictures."""
    opening = OPENINGS.get(view["model"], OPENINGS[NONE])
    if view.page is not FIRST or view["s"] not in opening.sentences or view.hidden:
        return None
    return opening if view.changed() == opening.chosen else None


def ways_on() -> None:
    """The two ways on: to the guide, and to a sentence of one's own, read in the same way."""
    with st.container(horizontal=True, width="content", key="ways_on"):
        st.page_link("pages/guide.py", label="Take the guide")
        focus_button("Type your own", BOX, key="type_own")


def switch(view: View, opening: Opening) -> None:
    """The switch of the last word, and a sentence on the weights with either."""
    settings = view.settings()
    both = [results.result_of(replace(settings, s=sentence)) for sentence in opening.sentences]
    chosen = opening.sentences.index(view["s"])
    _, content = sections.whole_picture(view, both[1 - chosen])
    with st.container(horizontal=True, vertical_alignment="center", key="switch"):
        switch_word(
            "Last word",
            opening.endings,
            chosen,
            content,
            lambda at: session.choose("s", opening.sentences[at]),
            key="ending",
        )
        note_quietly(opening.words(both))
