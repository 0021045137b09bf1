"""Explore: which words each word looks at, and its new vector."""

import streamlit as st

from attention.app.parts import first_screen, long_texts, long_view, sections
from attention.app.results import runs
from attention.app.shell import frame
from attention.app.state.view import View


def explore(view: View) -> None:
    """All that follows from the sentence, the settings and the chosen token."""
    if asked := long_texts.text_of(view):
        long_view.draw(view, asked)
        return
    if long_texts.is_missing(view) or (view.calm and first_screen.draw(view)):
        return
    if result := runs.current_result(view):
        sections.attention_of(view, result)
    else:
        st.info("Type a sentence above, or take one of the examples.")


frame.show(__file__, explore)
