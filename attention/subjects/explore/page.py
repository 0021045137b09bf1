"""Explore: which words each word looks at, and its new vector."""

import streamlit as st

from attention.app.cached import runs
from attention.app.controls import sections
from attention.app.shell import frame
from attention.app.state.view import View
from attention.subjects.explore import map_page, opening_page
from attention.subjects.long_run import long_texts, text_page


def explore(view: View) -> None:
    """All that follows from the sentence, the settings and the chosen token."""
    if asked := long_texts.text_of(view):
        text_page.draw(view, asked)
        return
    if long_texts.is_missing(view) or (view.calm and opening_page.draw(view)):
        return
    if result := runs.current_result(view):
        sections.attention_of(view, result, more=map_page.draw_word_map)
    else:
        st.info("Type a sentence above, or take one of the examples.")


def draw_page(file: str) -> None:
    """Draw the page in its frame. file: that in `pages/`."""
    frame.show(
        file,
        explore,
        examples=text_page.examples,
        tokens=text_page.tokens,
        has_title=opening_page.has_title,
        on_top=opening_page.ways_on,
        instead=text_page.box,
    )
