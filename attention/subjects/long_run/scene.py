"""Scenes of runs and long texts: all heads, the chosen one as a heatmap or a map, its numbers."""

from __future__ import annotations

from collections.abc import Sequence

from attention.core.functional import LongTrace
from attention.figures import result_words
from attention.figures.head_grid import HeadGrid, looks
from attention.figures.picture import AttentionPicture, Picture
from attention.figures.scene import Column, Figure, Row, Scene, Table, Words, note, scene, titled
from attention.pipeline import Result
from attention.subjects.heads import words as heads_words
from attention.subjects.long_run.figures import StreetMap
from attention.subjects.long_run.numbers import Opened
from attention.subjects.long_run.text_words import NOT_OFFERED, sum_table


def of_weights(own: Opened, layer: int, head: int) -> Scene:
    """All heads of a file, and all weights of the chosen one, whose queries and keys are few."""
    read, named = own.weights, named_head(own, layer, head)
    picture = Picture(
        read.trace(layer, head),
        read.tokens,
        [True] * len(read.tokens),
        parts=("heatmap",),
        memory=None if read.keys is None else (read.keys, [True] * len(read.keys)),
        caption=(f"{named.capitalize()}.", ""),
        of=named,
    )
    heads = Column(_every_head(own, layer, head))
    return scene(
        *map(note, read.problems),
        Row([heads, AttentionPicture(picture, key="picture")], (1, 1)),
    )


def named_head(own: Opened, layer: int, head: int) -> str:
    """Name of a head of a file, with its layer's."""
    return f"{own.weights.layer_titles[layer]}, head {own.weights.head_numbers[head]}"


def every_head(own: Opened, layer: int, head: int) -> Scene:
    """All heads of a file at a glance, one of which can be chosen, and of which queries that is."""
    return scene(*_every_head(own, layer, head))


def _every_head(own: Opened, layer: int, head: int) -> list[Figure]:
    glance, names = own.glance, own.weights.layer_titles
    sample = heads_words.sample_words(glance.seen)
    more = f", of {sample}" if sample else ""
    chosen = layer * len(own.weights.head_numbers) + head
    return [
        titled("Every head", f"· a row for each layer{more}", hint="click one"),
        _grid(own, chosen, names),
    ]


def _grid(own: Opened, chosen: int, layer_names: Sequence[str] = ()) -> HeadGrid:
    seen, size = own.glance.seen, max(own.glance.shape)
    said = looks(seen)
    return HeadGrid(seen.dots, seen.block, size, chosen, layer_names, said, key="glance")


def measured(own: Opened, sort: str) -> Scene:
    """Measures of all heads in a table, sorted by one of them, with its explanation."""
    seen, read = own.glance.seen, own.weights
    names = [f"{title} head {head}" for title in read.layer_titles for head in read.head_numbers]
    rows, columns, even = heads_words.measure_table(seen, sort, names)
    return scene(
        Table(heads_words.MEASURED, rows, columns, even, digits=heads_words.DIGITS),
        Words(heads_words.measure_words(seen)),
    )


def street_map(figure: StreetMap, title: str, problems: Sequence[str] = ()) -> Scene:
    """The map of a head under its title. problems: notes on what of a run is not shown."""
    hint = "drag to move, wheel or pinch to zoom"
    return scene(*map(note, problems), titled(title.capitalize(), hint=hint), figure)


def layer_of_text(result: Result, run: Opened) -> Scene:
    """All heads of a layer over a text, and all that could not be used as it was set."""
    sample = heads_words.sample_words(run.glance.seen)
    of = f"· of {sample}" if sample else ""
    return scene(
        titled("Every head of the layer", of, hint="click one"),
        _grid(run, result.head),
        *map(note, result.notes),
        *result_words.trained(result),
        note(NOT_OFFERED),
    )


def new_vector(result: Result, query: int) -> Scene:
    """The new vector of a token as a sum: the greatest terms, and all others as one."""
    trace = result.layer_trace
    assert isinstance(trace, LongTrace)
    one = trace.sliced(slice(query, query + 1), slice(result.head, result.head + 1)).head(0)
    title = f"The new vector of {query} {result.tokens[query]}"
    return scene(
        titled(title, "· y = Σ w·v, of this head"),
        Table("weighted sum", *sum_table(one, result.key_tokens)),
    )


def next_words(names: Sequence[str], shares: Sequence[float]) -> Scene:
    """The likeliest pieces to come after a text."""
    columns = {"probability of the next word": shares}
    return scene(Table("likeliest next pieces", names, columns, shares=True))
