"""Heads: what each head of a layer looks at, and what it adds."""

import streamlit as st

from attention.analysis import additions as analysed
from attention.analysis.heads import Overview
from attention.app.cached import overviews, runs
from attention.app.components.pictures import head_grid, head_view, matrices
from attention.app.components.selection import tell_selection
from attention.app.controls import notes, sections, widgets
from attention.app.controls.part import part
from attention.app.shell import frame
from attention.app.state import session
from attention.app.state.view import View
from attention.core.printing import distinct_names
from attention.figures import layer_words, result_words, tables
from attention.figures.captions import parameters_words
from attention.figures.matrix import Matrix
from attention.pipeline import Result
from attention.subjects.heads import words as heads_words


def all_heads(view: View) -> None:
    """All that follows from the sentence, the settings, the chosen head and token."""
    result = runs.layer_result(view)
    if result is None:
        st.info("Type a sentence above, or take one of the examples.")
        return
    if sections.over_another(result):
        return
    overview = overviews.overview_of(result.settings)
    left, right = st.columns([5, 6.5], gap="large")
    with left:
        widgets.widget(view, "head", label="**Head** · click one")
        head_grid(
            overview.dots,
            overview.block,
            len(layer_words.shown(result)[0]),
            result.head,
            widgets.choose_head,
            key="head_grid",
        )
        notes.note_group(result)
    with right:
        sections.weights_of(view, result, f"Head {result.head}.")
    notes.note_problems(result)
    of_token(view)


@part
def of_token(view: View) -> None:
    """Where the chosen token looks, what each head adds to it, and where its weights come from."""
    result = runs.layer_result(view)
    if result is None:
        return
    tell_selection(view.selection, session.select)
    tokens, piece = layer_words.shown(result)[0], layer_words.piece_at(result, view["query"])
    last = len(tokens) - 1
    wanted = int(view["query"])
    if wanted > last:
        notes.note("That word is gone; the last one is selected.")
    lines, measured = st.columns([5, 6.5], gap="large")
    with lines:
        token_lines(view, result, min(wanted, last))
        notes.note_masks(result, min(wanted, last))
    with measured:
        measures(view, overviews.overview_of(result.settings), len(tokens))
        if words := parameters_words(result.layer.origin):
            st.caption(words)
    named = distinct_names(result.tokens)
    if layer_words.words_of(result):
        notes.note(
            f"The rest of the page is of one piece, the first of “{tokens[min(wanted, last)]}”."
        )
    additions(result, piece, named)
    neurons(result, piece, named)


def token_lines(view: View, result: Result, query: int) -> None:
    """The tokens joined by lines, each head in its own colour."""
    count, words = result.layer.heads, layer_words.words_of(result)
    active, problem = heads_words.read_active(view["active"], count)
    weights = words.weights_for(result.layer_trace, query) if words else result.weights_for(query)
    edges = heads_words.edges(weights, query, active, view["cover"])
    head_view(
        words.tokens if words else result.tokens,
        [True] * len(words.tokens) if words else result.known,
        edges.weights,
        active,
        query,
        view.selection,
        lambda chosen: session.choose("active", heads_words.write_active(chosen, count)),
        key="head_view",
    )
    if problem:
        notes.note(problem)
    st.caption(edges.words)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        widgets.widget(view, "cover", width=180)
        widgets.widget(view, "active", width=180, placeholder="all")


def measures(view: View, overview: Overview, n_queries: int) -> None:
    """Show what each head attends to on average, sorted."""
    st.markdown("**Where each head looks**, on average over the queries")
    widgets.widget(view, "sort", offered=("head", *overview.measures), narrow=True, width=220)
    names, columns, even = heads_words.measure_table(overview, view["sort"])
    st.html(
        tables.table(heads_words.MEASURED, names, columns, total=even, digits=heads_words.DIGITS)
    )
    st.text(heads_words.previous_token_head(overview, n_queries))
    st.caption(heads_words.measure_words(overview))


def additions(result: Result, query: int, named: list[str]) -> None:
    """Show what each head adds to the chosen token's output."""
    st.subheader("The part of each head")
    added = analysed.additions(result.layer, result.layer_trace, query)
    names, columns, total = heads_words.additions_table(added)
    st.text(heads_words.sum_words(added, named[query]))
    most = added.most
    pictures, numbers = st.columns([8, 5], gap="large")
    with pictures:
        matrices(
            [
                Matrix(
                    "each head, through its rows of W_o",
                    added.parts,
                    names,
                    lights="column",
                    most=most,
                ),
                "Σ =",
                Matrix("y", added.output[None], ["y"], most=most),
            ],
            key="added",
            of=f"token {query}",
        )
    with numbers:
        title = f"what each head adds to token {query}"
        st.html(tables.table(title, names, columns, total=total))
    st.caption(heads_words.additions_words(added))


def neurons(result: Result, query: int, named: list[str]) -> None:
    """From q and k to the weights, dimension by dimension."""
    st.subheader(f"Neurons of head {result.head}")
    shown = heads_words.neurons(result.layer, result.trace, query, named)
    st.text(f"Dimension by dimension, the query of “{named[query]}” meets every key.")
    if shown.term_name:
        matrices(
            [
                Matrix("q", shown.q, ["q"], lights="column"),
                "×",
                Matrix("k", shown.k, shown.names, lights="cell"),
                "=",
                Matrix(shown.term_name, shown.terms, shown.names),
            ],
            key="neurons",
            of=f"head {result.head}, token {query}",
        )
    title = f"scores and weights of token {query} · {result_words.head_words(result)}"
    st.html(tables.table(title, shown.rows, shown.columns, total=shown.total))
    st.caption(shown.words)


def draw_page(file: str) -> None:
    """Draw the page in its frame. file: that in `pages/`."""
    frame.show(file, all_heads)
