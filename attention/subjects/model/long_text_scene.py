"""Scenes of long texts: the map of a head, all heads of its layer, a token's new vector."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attention.analysis.heads import Overview
from attention.atlas.sentences import Sentences, say
from attention.core import analysis
from attention.core.functional import LongTrace, Trace
from attention.core.printing import fixed
from attention.figures import result_words
from attention.figures.head_grid import HeadGrid, looks
from attention.figures.scene import Scene, Table, note, scene, titled
from attention.figures.street_map import StreetMap
from attention.pipeline import Result

TERMS = 12  # of a weighted sum, besides all others together
# Of which queries the pictures of heads are, where not of all.
SAMPLE: Sentences = {
    "· of {rows:,} of {of:,} queries, spread evenly over the run": lambda n: n.rows != n.of
}


def map_of_head(figure: StreetMap, title: str) -> Scene:
    """The map of a head with its title."""
    hint = "drag to move, wheel or pinch to zoom"
    return scene(titled(title.capitalize(), hint=hint), figure)


def layer_of_text(result: Result, seen: Overview) -> Scene:
    """All heads of a layer over a text, and all that could not be used as it was set."""
    size, said = len(result.tokens), looks(seen)
    return scene(
        titled(
            "Every head of the layer",
            say(SAMPLE, rows=seen.rows[0], of=seen.rows[1]),
            hint="click one",
        ),
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


def sum_table(
    trace: Trace, tokens: Sequence[str]
) -> tuple[list[str], Mapping[str, Sequence[float | str | None]], list[str]]:
    """Names, columns and last row: the greatest terms of the only query of a trace, the others
    together, and their sum.

    trace: (1, keys); tokens: of the keys.
    """
    terms = analysis.strongest(trace, tokens, 0, TERMS)
    names = [
        name if position is None else f"{position} {name}"
        for name, position in zip(terms.keys, terms.positions, strict=True)
    ]
    numbers = dict(terms.numbers)
    columns = {
        **{name: numbers.pop(name) for name in ("score", "scaled")},
        "weight": terms.weights.tolist(),
        **numbers,
    }
    length = float(trace.output.norm())
    sums = {
        "weight": fixed(float(terms.weights.sum()), 4),
        "‖w·v‖": f"‖y‖ = {fixed(length, 4)}",
        "share of y": fixed(sum(share or 0 for share in numbers["share of y"]), 4),
    }
    return names, columns, ["Σ = y", *(sums.get(name, "") for name in columns)]


def next_words(names: Sequence[str], shares: Sequence[float]) -> Scene:
    """The likeliest pieces to come after a text."""
    columns = {"probability of the next word": shares}
    return scene(Table("likeliest next pieces", names, columns, shares=True))
