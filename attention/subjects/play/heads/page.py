"""All heads: a row for each head of the layer under the words, or its small map."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from attention.app.cached import overviews
from attention.app.components.scene import draw
from attention.app.components.turns import Handler
from attention.app.controls import widgets
from attention.app.state import session
from attention.app.state.openings import ALL_WORDS
from attention.app.state.view import View
from attention.core.functional import Trace
from attention.core.printing import distinct_names
from attention.figures import files, layer_words
from attention.figures.word_rows import WordRows
from attention.pipeline import Result
from attention.subjects.play.heads import scene as scenes
from attention.subjects.play.heads.words import write_active


def draw_heads(view: View, result: Result, tokens: Sequence[str], query: int) -> None:
    """Rows of all heads from the chosen word; with all words their maps."""
    if view["words"] == ALL_WORDS:
        choose = range(result.layer.heads).__contains__, widgets.choose_head
        offer_weights(result)
        draw(scenes.grid(result), key="all_heads", taken={"head_grid": {"head": choose}})
        return
    seen = overviews.overview_of(result.settings)
    with st.container(horizontal=True, vertical_alignment="bottom", key="heads_controls"):
        offered = ("head", *seen.measures)
        widgets.widget(view, "sort", offered=offered, narrow=True, width=170)
        widgets.widget(view, "cover", width=170)
    shown, heads = scenes.rows(view, result, tokens, query), scenes.order_of(view, seen)
    figure = shown["rows"]
    assert isinstance(figure, WordRows)
    taken: dict[str, Handler] = {
        "row": (figure.has, lambda row: widgets.choose_head(heads[row])),
        "marked": (
            lambda rows: all(map(figure.has, rows)),
            lambda rows: mark([heads[row] for row in rows]),
        ),
        "turn": ((-1, 1).__contains__, partial(turn, result)),
    }
    draw(shown, key="rows_of_heads", selection=view.selection, taken={"rows": taken})


def offer_weights(result: Result) -> None:
    """Offer the weights of all heads as one table, a line for each head and query."""
    trace = result.layer_trace
    if layer_words.words_of(result) or not isinstance(trace, Trace):
        return
    names, keys = distinct_names(result.tokens), distinct_names(result.key_tokens)
    heads = [scenes.head_name(result, head) for head in range(result.layer.heads)]
    rows = [f"{head}, {name}" for head in heads for name in names]
    mask = None if trace.mask is None else trace.mask.expand(trace.weights.shape).flatten(0, -2)
    files.offer_matrix("weights of all heads", trace.weights.flatten(0, -2), rows, keys, mask)


def mark(heads: list[int]) -> None:
    """Choose the heads whose arcs are drawn too, within a callback."""
    session.choose("active", write_active(heads))


def turn(result: Result, by: int) -> None:
    """Go to the layer before or after, within a callback."""
    if result.trained is not None:
        to = result.trained.position + by
        if 0 <= to < result.trained.of:
            session.choose("layer", to)
