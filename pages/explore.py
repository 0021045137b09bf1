"""Explore: which words each word looks at, and its new vector."""

import streamlit as st

from attention.app.cached import runs
from attention.app.controls import long_texts, sections
from attention.app.shell import frame
from attention.app.state.view import View
from attention.subjects.explore import opening_page
from attention.subjects.long_run import text_page


def explore(view: View) -> None:
    """All that follows from the sentence, the settings and the chosen token."""
    if asked := long_texts.text_of(view):
        text_page.draw(view, asked)
        return
    if long_texts.is_missing(view) or (view.calm and opening_page.draw(view)):
        return
    if result := runs.current_result(view):
        sections.attention_of(view, result)
    else:
        st.info("Type a sentence above, or take one of the examples.")


frame.show(__file__, explore)
