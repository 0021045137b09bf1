"""Explore: who attends to whom, and what comes of it."""

import streamlit as st

from attention import analysis, figures, state
from attention.components import heatmap, token_view, weighted_sum
from attention.view import View

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
    sum_up(view, query)
    state.downloads(view, query)


@st.fragment
def matrix(query: int) -> None:
    """One stage of the computation as a heatmap."""
    view = state.current_view()
    if view is None:
        return
    stage = state.stage_control()
    heatmap(view.trace, stage, view.tokens, query, key="weights_heatmap")
    st.caption(figures.stage_words(stage, len(view.tokens)))


def sum_up(view: View, query: int) -> None:
    """The chosen token's new vector, term by term."""
    state.equation(view, query)
    terms = analysis.strongest(view.trace, view.tokens, query, figures.MOST_ROWS)
    weighted_sum(terms, view.trace.output[query], key="terms")
    state.nearest_words(view, query)


explore()
