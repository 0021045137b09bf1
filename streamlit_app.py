"""The frame around every page: navigation, shared controls, the sentence; then the page."""

import streamlit as st

from attention import state

st.set_page_config(page_title="Attention explorer", page_icon="👁", layout="wide")
PAGES = [
    st.Page("pages/explore.py", title="Explore", default=True),
    st.Page("pages/steps.py", title="Step by step"),
    st.Page("pages/heads.py", title="Heads"),
    st.Page("pages/cross.py", title="Two sequences"),
    st.Page("pages/compare.py", title="Compare"),
    st.Page("pages/blocks.py", title="Building blocks"),
    st.Page("pages/identities.py", title="Identities"),
]
page = st.navigation({"Attention explorer": PAGES})
state.frame_ready()
state.warm_up()

top, body = st.container(), st.container()


def controls() -> None:
    """The settings at the side and the sentence on top, as far as the page has them."""
    with st.sidebar:
        state.settings_of_page(page.url_path)
    with top:
        state.style()
        if page.url_path in state.PAGES_WITH_SENTENCE and not state.by_hand(page.url_path):
            state.sentence_box()
        for words in state.words_on_link():
            state.say(words)


state.draw(controls, page.run, body)
state.freeze()
