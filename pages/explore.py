"""Explore: which words each word looks at, and its new vector."""

import streamlit as st

from attention.app import first_screen, frame, results, sections
from attention.app.view import View


def explore(view: View) -> None:
    """All that follows from the sentence, the settings and the chosen token."""
    if view.calm and first_screen.draw(view):
        return
    if result := results.current_result(view):
        sections.attention_of(view, result)
    else:
        st.info("Type a sentence above, or take one of the examples.")


frame.show(__file__, explore)
