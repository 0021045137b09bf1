"""Scenes of All heads: where each head of the layer looks from the chosen word, or from all."""

from __future__ import annotations

from collections.abc import Sequence

from attention.analysis.heads import Overview, order, strongest_edges
from attention.app.cached import overviews
from attention.app.state.view import View
from attention.figures import layer_words
from attention.figures.head_grid import HeadGrid, looks
from attention.figures.scene import Scene, Words, scene
from attention.figures.word_rows import WordRow, WordRows, kind_of, sent_rows
from attention.pipeline import Result
from attention.subjects.play.heads import words as heads_words

LEAST = 0.2  # of a weight that is written into its cell


def order_of(view: View, seen: Overview) -> list[int]:
    """The heads in the order of the rows."""
    by = view["sort"] if view["sort"] in seen.measures else "head"
    return order(seen.measures, by)


def rows(view: View, result: Result, tokens: Sequence[str], query: int) -> Scene:
    """One row for each head of the layer, and a sentence on the measure that sorts them."""
    words = layer_words.words_of(result)
    weights = words.weights_for(result.layer_trace, query) if words else result.weights_for(query)
    if view["cover"] < 1:
        weights = weights * strongest_edges(weights, view["cover"])
    seen = overviews.overview_of(result.settings)
    heads = order_of(view, seen)
    kind = kind_of(result.trace.weighing)
    measure = view["sort"] if view["sort"] in seen.measures else ""
    each = [
        WordRow(
            head_name(result, head),
            weights[head],
            kind,
            heads_words.measured_as(seen, measure, head),
        )
        for head in heads
    ]
    figure = WordRows(
        tokens,
        sent_rows(each, query),
        chosen=heads.index(result.head),
        marked=[heads.index(head) for head in heads_words.read_active(view["active"], len(heads))],
        marks=True,
        least=LEAST,
        label="Heads of the layer",
        key="rows",
    )
    hint = "" if measure else heads_words.CLICK
    return scene(figure, Words(heads_words.rows_words(seen, measure), "told", hint=hint))


def head_name(result: Result, head: int) -> str:
    """The name of a head: 3.1 is head 1 of layer 3, both counted from 0."""
    return f"head {head}" if result.trained is None else f"{result.trained.position}.{head}"


def grid(result: Result) -> Scene:
    """All heads of the layer as small maps."""
    overview, tokens = overviews.overview_of(result.settings), layer_words.shown(result)[0]
    return scene(
        HeadGrid(
            overview.dots,
            overview.block,
            len(tokens),
            result.head,
            said=looks(overview),
            sizes=overview.of_sizes,
            key="head_grid",
        )
    )
