"""Heads: what each head of multi-head attention looks at, and what it adds."""

import streamlit as st

from attention import heads, state, tables
from attention.components import head_grid, head_view, matrices
from attention.heads import Heads
from attention.matrix import Matrix
from attention.view import View

state.inside_frame("pages/heads.py")

st.title("Heads")


@st.fragment
def all_heads() -> None:
    """All that follows from the sentence, the settings, the chosen head and token."""
    view = state.layer_view()
    if view is None:
        st.info("Type a sentence above, or take one of the examples.")
        return
    layer = state.heads_of(view.settings)
    left, right = st.columns([5, 6.5], gap="large")
    with left:
        head_control()
        dots, block = heads.thumbnails(layer.weights)
        choose = state.choose_head
        head_grid(dots, block, len(view.tokens), view.head, choose, key="head_grid")
    state.let_through()
    with right:
        detail()
    state.say_what_is_missing(view)
    lines, found = st.columns([5, 6.5], gap="large")
    with lines:
        query = state.query_control(view)
        token_lines(view, layer, query)
    with found:
        measures(layer)
    named = heads.named(view.tokens)
    added(layer, query, named)
    neurons(view, query, named)


def head_control() -> None:
    """The chosen head, by a number box that lives in the address."""
    state.widget("head", *state.SHARED["head"], label="**Head** · click one")


@st.fragment
def detail() -> None:
    """One stage of the chosen head as a heatmap."""
    view = state.layer_view()
    if view is None:
        return
    query = min(state.value_of("query", state.SELECTION), len(view.tokens) - 1)
    state.stage_of(view, query, f"Head {view.head}. ")


def token_lines(view: View, layer: Heads, query: int) -> None:
    """The tokens joined by lines in a colour a head."""
    wanted = state.value_of("active", state.HEADS)
    active, wrong = heads.read_active(wanted, view.layer.heads)
    edges = heads.edges(layer.weights, query, active, state.value_of("cover", state.HEADS))
    head_view(
        view.tokens,
        view.known,
        edges.weights,
        active,
        query,
        state.choose_query,
        lambda chosen: state.choose("active", heads.write_active(chosen, view.layer.heads)),
        key="head_view",
    )
    if wrong:
        state.say(wrong)
    st.caption(edges.words)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        state.widget("cover", *state.HEADS["cover"], width=180)
        state.widget("active", *state.HEADS["active"], width=180, placeholder="all")


def measures(layer: Heads) -> None:
    """What each head attends to on average, sorted."""
    st.markdown("**What each head attends to**, on average over the queries")
    state.widget("sort", *state.HEADS["sort"])
    names, columns, even = heads.measure_table(layer, state.value_of("sort", state.HEADS))
    st.html(tables.table(names, columns, total=even))
    st.text(heads.previous_token_head(layer))
    st.caption(
        "Entropy in bits, distance in tokens; then the share of a query's weight on the previous, "
        "the same, the next and the first token. A head that looks at every key it may see alike "
        "has an even spread."
    )


def added(layer: Heads, query: int, named: list[str]) -> None:
    """What each head adds to the chosen token's output."""
    st.subheader("What each head adds")
    made = heads.additions(layer, query)
    names, columns, total = made.table()
    st.text(f"The new vector y of “{named[query]}” is the sum of what all heads add to it.")
    pictures, numbers = st.columns([8, 5], gap="large")
    with pictures:
        matrices(
            [
                Matrix("each head, through its rows of W_o", made.parts, names, lights="column"),
                "Σ =",
                Matrix("y", made.output[None], ["y"]),
            ],
            key="added",
        )
    with numbers:
        st.html(tables.table(names, columns, total=total))
    st.caption(
        "Along y: how far a head's part reaches in the direction of y; these add up to the length "
        "of y, so a share below 0 pulls against it. The parts sum to y but for rounding: "
        f"‖Σ − y‖ = {made.residual:.1e}."
    )


def neurons(view: View, query: int, named: list[str]) -> None:
    """From q and k to the weights, dimension by dimension."""
    st.subheader(f"Neurons of head {view.head}")
    found = heads.neurons(view.trace, query, named)
    st.text(f"Dimension by dimension, the query of “{named[query]}” meets every key.")
    matrices(
        [
            Matrix("q", found.q, ["q"], lights="column"),
            "×",
            Matrix("k", found.k, found.names, lights="cell"),
            "=",
            Matrix("q×k", found.products, found.names),
        ],
        key="neurons",
    )
    st.html(tables.table(found.rows, found.columns, total=found.total))
    st.caption(found.words)


all_heads()
