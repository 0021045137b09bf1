"""Explore: who attends to whom, and what comes of it."""

import streamlit as st

from attention import analysis, figures, state
from attention.components import token_view
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
        token_view(
            view.tokens,
            view.known,
            view.trace.weights,
            view.trace.mask,
            query,
            state.choose_query,
            key="tokens",
        )
    with right:
        matrix(query)
    weighted_sum(view, query)
    state.downloads(view, query)


@st.fragment
def matrix(query: int) -> None:
    """One stage of the computation as a heatmap."""
    view = state.current_view()
    if view is None:
        return
    stage = state.stage_control()
    with st.container(key="weights_heatmap"):
        st.plotly_chart(
            figures.heatmap(view.trace, stage, view.tokens, query),
            key="heatmap",
            config=state.toolbar(f"attention-{stage}"),
            alt=f"Heatmap of the {stage}: queries down, keys across.",
        )
    st.caption(figures.stage_words(stage, len(view.tokens)))


def weighted_sum(view: View, query: int) -> None:
    """The chosen token's new vector, term by term."""
    trace = view.trace
    state.equation(view, query)
    st.plotly_chart(
        figures.weighted_sum(trace, view.tokens, query),
        key="terms",
        config=state.toolbar("weighted-sum"),
        alt="Weights of the chosen query as bars, and each term of its sum over the dimensions. "
        "The table below holds the numbers.",
    )
    st.caption(
        "Left, the weights. Right, each term w·v over the dimensions, and their sum y below: "
        "orange adds, blue takes away; the few largest numbers share the last colour."
    )
    numbers, words = st.columns([7, 5], gap="large")
    with numbers:
        st.dataframe(
            analysis.table(trace, query, view.tokens),
            hide_index=True,
            height="content" if len(view.tokens) <= 12 else 420,
            column_config=state.TABLE_FORMATS,
            alt="Each key's score, scaled score, weight, lengths and share of the output.",
        )
    with words:
        state.nearest_words(view, query)


explore()
