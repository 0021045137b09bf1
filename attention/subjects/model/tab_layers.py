"""The layers of a model one by one: where a word looks in each, and each one's guess."""

from __future__ import annotations

import streamlit as st

from attention.analysis.questions import Question
from attention.app.cached import overviews, runs
from attention.app.components.pictures import chart, layer_lines, matrices
from attention.app.controls import widgets
from attention.app.controls.part import part
from attention.app.state import shared
from attention.app.state.view import View
from attention.core.printing import distinct_names
from attention.figures import layer_words, tables
from attention.pipeline import Result
from attention.subjects.model import effect_figures, intervention_numbers
from attention.subjects.model.tab_parts import asked_of
from attention.trained.models import Model, Transformer, goes_on

MAX_TOKENS = 64  # whose weights in all layers can be told apart


@part
def draw_layers(view: View) -> None:
    """The chosen word through all layers, and each layer's guess of the next word."""
    result = runs.as_trained(view)
    if result is None:
        return
    model = shared.load_model(result.settings.model)
    in_all_layers(view, model, result, layer_words.piece_at(result, view["query"]))
    asked = asked_of(view) if goes_on(model) else None
    if asked is not None and asked.words is not None:
        layers_guess(asked)


def in_all_layers(view: View, model: Model, result: Result, query: int) -> None:
    """The weights of the chosen token in each layer."""
    if not result.of_sentence or len(result.tokens) > MAX_TOKENS:
        return
    st.subheader("Where it looks, layer by layer")
    rows = overviews.rows_in_all_layers(view, query)
    name = distinct_names(result.tokens)[query]
    st.text(f"Follow “{name}” through the layers: lines lead back to the tokens it looks at.")
    lines = layer_words.layer_lines(rows, view["all_layers"], view["cover"])
    titles = [model.title_of(layer) for layer in range(len(rows))]
    layer_lines(lines, result.tokens, titles, query, view.selection, key="layer_lines")
    st.caption(lines.words)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        widgets.widget(view, "all_layers", width="content")
        widgets.widget(view, "cover", width=200)
    with st.expander("The same in numbers"):
        parts = layer_words.layer_rows(rows, result.tokens, model.title_of)
        matrices(parts, key="layers", of=f"token {query}")


def layers_guess(asked: Question) -> None:
    """Show what each layer would say comes next."""
    found = intervention_numbers.guesses_of(asked)
    if found is None:
        return
    model = shared.load_model(asked.model)
    assert isinstance(model, Transformer)
    assert asked.words is not None
    st.subheader("Each layer's guess of the next word")
    drawn = effect_figures.guess_lines(
        found.names, found.ranks, found.shares, model.shown(asked.words), found.likeliest
    )
    st.text("The rank of both words if the model stopped after so many layers.")
    chart(drawn, "The rank of both words, layer by layer.", key="guesses")
    st.caption(
        "1 is the likeliest of all pieces. The vector that enters a layer goes through the last "
        "norm and the unembedding, as if no layer came after (logit lens, nostalgebraist 2020)."
    )
    with st.expander("The likeliest word of each layer"):
        names, columns = found.table()
        st.html(tables.table("each layer's guess", names, columns))
