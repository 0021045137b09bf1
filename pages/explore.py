"""Explore: who attends to whom, and what comes of it."""

import streamlit as st

from attention.app import frame, results, sections


def explore() -> None:
    """All that follows from the sentence, the settings and the chosen token."""
    if result := results.current_result():
        sections.attention_of(result)
        st.page_link("pages/guide.py", label="New here? The guide starts from one word.")
    else:
        st.info("Type a sentence above, or take one of the examples.")


frame.show(__file__, explore)
