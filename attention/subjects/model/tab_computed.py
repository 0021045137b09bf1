"""The chosen head as it is computed: all its weights, a translation, and the sum of its layer."""

from __future__ import annotations

import streamlit as st

from attention.analysis import additions
from attention.app.cached import runs
from attention.app.components.pictures import matrices
from attention.app.controls import notes, sections
from attention.app.controls.part import part
from attention.app.state import shared
from attention.app.state.view import View
from attention.core.printing import distinct_names
from attention.figures import layer_words, tables
from attention.figures.matrix import Matrix
from attention.pipeline import Result
from attention.subjects.heads import words as heads_words


def draw_computed(view: View) -> None:
    """The weights of the chosen head, and what all heads of its layer add to the chosen word."""
    result = runs.as_trained(view)
    if result is None:
        return
    assert result.trained is not None
    layer = shared.load_model(view["model"]).title_of(result.trained.position)
    caption = f"{layer.capitalize()}, head {result.head}."
    sections.weights_of(view, result, caption, ("lines", "heatmap"))
    notes.note_problems(result)
    translation(view)
    of_token(view)


@part
def of_token(view: View) -> None:
    """The sum of the chosen word's layer."""
    result = runs.as_trained(view)
    if result is not None:
        token_sum(result, layer_words.piece_at(result, view["query"]))


def translation(view: View) -> None:
    """Show how an encoder-decoder finds one piece after the other, and what it draws each from."""
    made = runs.translation(view)
    if made is None:
        return
    found, aligned = made
    decoder = shared.load_model(view["model"]).parts.decoder
    assert decoder is not None
    title = "translation" if decoder.aligns is not None else "output"
    st.subheader(f"The {title}")
    st.text(found.text)
    names, columns = layer_words.translation_table(found)
    st.html(tables.table(title, names, columns))
    st.caption(layer_words.decoding_words(found, decoder))
    rows = f"Each row is a piece of the {title}; {layer_words.made_from(decoder)}"
    sections.lines_and_weights(view, aligned, "alignment", rows)


def token_sum(result: Result, query: int) -> None:
    """The sum of what the residual path, all heads and the bias add to the chosen token."""
    assert result.trained is not None
    layer_input = runs.run_of(result.settings).inputs[result.trained.position]
    kept = layer_input.pieces.kept(result.settings.special == "ignored")
    added = additions.layer_additions(layer_input, kept[query])
    names, columns, total = heads_words.additions_table(added)
    st.subheader("The sum in this layer")
    token = distinct_names(result.tokens)[query]
    st.text(f"The new vector of “{token}” is its input plus one part from each head.")
    most = added.most
    pictures, numbers = st.columns([8, 5], gap="large")
    with pictures:
        matrices(
            [
                Matrix("the parts", added.parts, names, lights="column", most=most),
                "Σ =",
                Matrix("the sum", added.output[None], ["Σ"], most=most),
            ],
            key="added",
            of=f"layer {result.trained.position}, token {query}",
        )
    with numbers:
        title = f"what is added to token {query} in layer {result.trained.position}"
        st.html(tables.table(title, names, columns, total=total))
    st.caption(layer_words.added_words(layer_input, added))
