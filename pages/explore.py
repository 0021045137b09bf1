"""Explore: who attends to whom, and what comes of it."""

import streamlit as st

from attention.app import frame, results, sections


def explore() -> None:
    """All that follows from the sentence, the settings and the chosen token."""
    if results.current_result() is None:
        st.info("Type a sentence above, or take one of the examples.")
    sections.attention_of(results.current_result)


frame.show(__file__, explore)
