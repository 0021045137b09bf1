"""Scenes of Heads: all heads beside the chosen one, and where each looks from the chosen token."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from attention.analysis import additions
from attention.app.cached import overviews, runs
from attention.app.state.openings import HIDDEN, SHOWN
from attention.app.state.view import View
from attention.core.printing import distinct_names
from attention.figures import layer_words, result_words
from attention.figures.head_grid import HeadGrid, looks
from attention.figures.lines import HeadLines
from attention.figures.matrices import Matrices
from attention.figures.matrix import Matrix
from attention.figures.picture import AttentionPicture
from attention.figures.result_pictures import weights_of
from attention.figures.scene import (
    Column,
    Figure,
    Row,
    Scene,
    Table,
    Words,
    heading,
    note,
    scene,
    titled,
)
from attention.pipeline import Result
from attention.subjects.heads import words as heads_words
from attention.subjects.heads.question import HeadQuestion, question_on

SHARES = (5, 6.5)  # of the width
TO_GUESS = "Each picture is a head, queries down, keys across: click the one you think it is."


def question(view: View, result: Result) -> HeadQuestion | None:
    """The question on the pictures of the heads, where their numbers are not shown."""
    if view["numbers"] != HIDDEN or not result.of_sentence:
        return None
    return question_on(overviews.overview_of(result.settings))


def all_heads(view: View, guess: int | None = None) -> Scene:
    """All heads of the layer at a glance, and the weights of the chosen one; above them a question,
    and the reply to a guess, None = not guessed yet."""
    result = runs.layer_result(view)
    if result is None:
        return scene(Words(result_words.EMPTY, "info"))
    if result.memory is not None:
        return scene(Words(result_words.OVER_ANOTHER, "info"))
    overview, tokens = overviews.overview_of(result.settings), layer_words.shown(result)[0]
    asked = question(view, result)
    answered = asked is not None and guess is not None
    grid = HeadGrid(
        overview.dots,
        overview.block,
        len(tokens),
        result.head,
        said=[] if asked and not answered else looks(overview),
        marked=asked.best if asked and answered else -1,
        asks=asked is not None and not answered,
        sizes=overview.of_sizes,
        key="head_grid",
    )
    reply = asked.verdict(guess) if asked and guess is not None else TO_GUESS
    return scene(
        heading(asked.words) if asked else None,
        Words(reply, "told") if asked else None,
        Row(
            [
                grid,
                chosen_head(view, result),
            ],
            SHARES,
        ),
        *result_words.problems(result),
    )


def chosen_head(view: View, result: Result) -> AttentionPicture:
    """All weights of the chosen head; without the numbers as colours alone."""
    picture = weights_of(result, f"Head {result.head}.")
    if view["numbers"] == SHOWN:
        return picture
    return replace(picture, shown=replace(picture.shown, calm=True, stage="weights"))


def chosen_token(view: View) -> Scene:
    """Where the chosen token looks; with all numbers also what each head adds to it, and where its
    weights come from."""
    result = runs.layer_result(view)
    if result is None or result.memory is not None:
        return scene()
    tokens, piece = layer_words.shown(result)[0], layer_words.piece_at(result, view["query"])
    query = min(int(view["query"]), len(tokens) - 1)
    names = distinct_names(result.tokens)
    gone = query < view["query"]
    if view["numbers"] == HIDDEN:
        return scene(
            note("That word is gone; the last one is selected.") if gone else None,
            *lines(view, result, query),
        )
    return scene(
        note("That word is gone; the last one is selected.") if gone else None,
        Row([Column(lines(view, result, query)), Column(measures(view, result))], SHARES),
        *parts(result, piece, names),
        *neurons(result, piece, names),
    )


def lines(view: View, result: Result, query: int) -> Sequence[Figure]:
    """The tokens joined by lines, each head in its own colour."""
    words = layer_words.words_of(result)
    active, problem = heads_words.read_active(view["active"], result.layer.heads)
    weights = words.weights_for(result.layer_trace, query) if words else result.weights_for(query)
    edges = heads_words.edges(weights.abs(), query, active, view["cover"])
    tokens = words.tokens if words else result.tokens
    known = [True] * len(tokens) if words else result.known
    return [
        HeadLines(tokens, known, edges.weights, active, query, key="head_view"),
        *([note(problem)] if problem else []),
        Words(edges.words),
    ]


def measures(view: View, result: Result) -> Sequence[Figure]:
    """Averages of what each head attends to, sorted."""
    overview = overviews.overview_of(result.settings)
    names, columns, even = heads_words.measure_table(overview, view["sort"])
    count = len(layer_words.shown(result)[0])
    return [
        titled(heads_words.measures_heading(overview), "· on average over the queries"),
        Table(heads_words.measured(overview), names, columns, even, digits=heads_words.DIGITS),
        Words(heads_words.previous_token_head(overview, count), "told"),
    ]


def parts(result: Result, query: int, names: Sequence[str]) -> Sequence[Figure | Row]:
    """Parts that the heads add to the chosen token's output."""
    added = additions.additions(result.layer, result.layer_trace, query)
    rows, columns, total = heads_words.additions_table(added)
    title, most = "each head, through its rows of W_o", added.most
    matrices: list[Matrix | str] = [
        Matrix(title, added.parts, rows, lights="column", most=most),
        "Σ =",
        Matrix("y", added.output[None], ["y"], most=most),
    ]
    return [
        heading("The part of each head"),
        Words(heads_words.sum_words(added, names[query]), "told"),
        Row(
            [
                Matrices(matrices, key="added", of=f"token {query}"),
                Table(f"what each head adds to token {query}", rows, columns, total, digits=2),
            ],
            (8, 5),
        ),
    ]


def neurons(result: Result, query: int, names: list[str]) -> Sequence[Figure]:
    """From q and k to the weights, dimension by dimension."""
    shown, head = heads_words.neurons(result.layer, result.trace, query, names), result.head
    products: list[Matrix | str] = [
        Matrix("q", shown.q, ["q"], lights="column"),
        "×",
        Matrix("k", shown.k, shown.names, lights="cell"),
        "=",
        Matrix(shown.term_name, shown.terms, shown.names),
    ]
    of, of_head = f"head {head}, token {query}", result_words.head_words(result)
    title = f"scores and weights of token {query} · {of_head}"
    return [
        heading(f"Neurons of head {head}"),
        Words(f"Dimension by dimension, the query of “{names[query]}” meets every key.", "told"),
        *([Matrices(products, key="neurons", of=of)] if shown.term_name else []),
        Table(title, shown.names, shown.columns, digits=2),
    ]
