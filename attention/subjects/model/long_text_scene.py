"""Scenes of long texts: the map of a head, all heads of its layer, a token's new vector."""

from __future__ import annotations

from collections.abc import Sequence

from attention.analysis.heads import Overview
from attention.core.functional import LongTrace
from attention.figures import result_words
from attention.figures.head_grid import HeadGrid, looks
from attention.figures.scene import Scene, Table, note, scene, titled
from attention.figures.street_map import StreetMap
from attention.pipeline import Result
from attention.subjects.model.long_text_words import sample_words, sum_table


def map_of_head(figure: StreetMap, title: str) -> Scene:
    """The map of a head with its title."""
    hint = "drag to move, wheel or pinch to zoom"
    return scene(titled(title.capitalize(), hint=hint), figure)


def layer_of_text(result: Result, seen: Overview) -> Scene:
    """All heads of a layer over a text, and all that could not be used as it was set."""
    size, said = len(result.tokens), looks(seen)
    return scene(
        titled("Every head of the layer", sample_words(seen), hint="click one"),
        HeadGrid(seen.dots, seen.block, size, result.head, said=said, key="glance"),
        *map(note, result.notes),
        *result_words.trained(result),
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
