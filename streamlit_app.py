"""The frame around every page: navigation, shared controls, the sentence; then the page."""

import streamlit as st

from attention import state

st.set_page_config(page_title="Attention explorer", page_icon="👁", layout="wide")
page = st.navigation([st.Page("pages/explore.py", title="Explore", default=True)])
state.frame_ready()
state.warm_up()

top, body = st.container(), st.container()


def controls() -> None:
    """The settings at the side and the sentence on top."""
    with st.sidebar:
        st.subheader("Attention explorer")
        state.shared_controls()
    with top:
        state.style()
        state.sentence_box()
        for words in state.words_on_link():
            state.say(words)


state.draw(controls, page.run, body)
state.freeze()
