"""Explore: who attends to whom, and what comes of it."""

import streamlit as st

from attention.app import frame, results, sections


def explore() -> None:
    """All that follows from the sentence, the settings and the chosen token."""
    if result := results.current_result():
        sections.attention_of(result)
    else:
        st.info("Type a sentence above, or take one of the examples.")


frame.show(__file__, explore)
with st.container(key="to_guide", width="content"):
    st.page_link("pages/guide.py", label="New here? Take the guide")
