"""Explore: who attends to whom, and what comes of it."""

import streamlit as st

from attention import state
from attention.components import token_view

state.inside_frame("pages/explore.py")


@st.fragment
def explore() -> None:
    """All that follows from the sentence, the settings and the chosen token."""
    view = state.current_view()
    if view is None:
        st.info("Type a sentence above, or take one of the examples.")
        return
    state.say_what_is_missing(view)
    left, right = st.columns([5, 7], gap="large")
    with left:
        query = state.query_control(view)
    with right:
        matrix(query)
    state.let_through()
    with left:
        token_view(
            view.tokens,
            view.known,
            view.trace.weights,
            view.trace.mask,
            query,
            state.choose_query,
            key="tokens",
        )
    state.weighted_sum_of(view, query)
    state.downloads(view, query)


@st.fragment
def matrix(query: int) -> None:
    """One stage of the computation as a heatmap."""
    if view := state.current_view():
        state.stage_of(view, query)


explore()
