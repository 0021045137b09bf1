"""Scenes of runs and long texts: all heads, the chosen one as a heatmap or a map, its numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from attention.analysis.heads import order
from attention.analysis.opened_run import OpenedRun
from attention.core.functional import LongTrace
from attention.figures import measure_words, result_words
from attention.figures.head_grid import HeadGrid, looks
from attention.figures.picture import AttentionPicture, Picture
from attention.figures.scene import Column, Figure, Row, Scene, Table, Words, note, scene, titled
from attention.figures.street_map import StreetMap
from attention.figures.tables import Cell
from attention.pipeline import Result
from attention.subjects.long_run.numbers import Opened
from attention.subjects.long_run.text_words import sum_table

if TYPE_CHECKING:
    from pandas import DataFrame

LINKS = "strongest links of all heads"
MOST_LINKS = 20  # that are shown
MARK = "±"  # beside the name of a layer without a softmax
SIGNED = (
    "A layer without a softmax: colours are sizes of weights, which may lie below 0, and rows sum "
    "to anything."
)


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
    glance, titles = own.glance, own.weights.layer_titles
    marked = zip(titles, own.weights.shares, strict=True)
    names = [title if of_shares else f"{title} {MARK}" for title, of_shares in marked]
    sample = measure_words.sample_words(glance.seen)
    more = f", of {sample}" if sample else ""
    chosen = layer * len(own.weights.head_numbers) + head
    return [
        titled("Every head", f"· a row for each layer{more}", hint="click one"),
        _grid(own, chosen, names),
        *([] if all(own.weights.shares) else [Words(f"{MARK} {SIGNED}")]),
    ]


def _grid(own: Opened, chosen: int, layer_names: Sequence[str] = ()) -> HeadGrid:
    seen, size = own.glance.seen, max(own.glance.shape)
    said = looks(seen)
    return HeadGrid(
        seen.dots,
        seen.block,
        size,
        chosen,
        layer_names,
        said,
        absent=own.weights.absent,
        sizes=seen.of_sizes,
        key="glance",
    )


def measured(own: Opened, sort: str) -> Scene:
    """Measures of all heads in a table, sorted by one of them."""
    seen, read = own.glance.seen, own.weights
    names = [f"{title} head {head}" for title in read.layer_titles for head in read.head_numbers]
    rows, numbers, even = measure_words.measure_table(seen, sort, names, read.absent)
    columns: dict[str, Sequence[Cell]] = {**numbers}
    if read.modules:
        of_heads = [module for module in read.modules for _ in read.head_numbers]
        heads = [head for head in order(seen.measures, sort) if head not in read.absent]
        modules = [of_heads[head] for head in heads]
        columns, even = {"module": modules, **columns}, [even[0], "", *even[1:]]
    apart = isinstance(read, OpenedRun)
    title, digits = measure_words.measured(seen), measure_words.DIGITS
    return scene(Table(title, rows, columns, even, digits=digits, apart=apart))


def links(own: Opened, found: DataFrame) -> Scene:
    """The strongest links of all heads in a table whose lines lead to them."""
    if found.empty:
        return scene(note("No head has such a link."))
    shown = found.head(MOST_LINKS)
    unknown = [""] * len(shown)
    ends = {
        name: [
            f"{at:,} {text.strip()}".strip()
            for at, text in zip(shown[side], shown.get(f"{side} token", unknown), strict=True)
        ]
        for name, side in (("from", "query"), ("to", "key"))
    }
    names = [
        f"layer {layer} head {head}"
        for layer, head in zip(shown["layer"], shown["head"], strict=True)
    ]
    columns = {**ends, "weight": shown["weight"].tolist(), "module": shown["module"].tolist()}
    return scene(Table(LINKS, names, columns, leads=True, apart=True, key="links"))


def street_maps(maps: Sequence[tuple[StreetMap, str, str]], problems: Sequence[str] = ()) -> Scene:
    """A map of a head, or two side by side, each with its title and the name of its module, ""
    where that is not told. problems: notes on what of a run is not shown."""
    hint = "drag to move, wheel or pinch to zoom"
    columns = [
        (titled(title.capitalize(), module and f"· {module}", hint), figure)
        for figure, title, module in maps
    ]
    said = [*map(note, problems)]
    run = maps[0][0].head.run
    if not all(run.attention(one.head.number).weights_are_a_distribution for one, _, _ in maps):
        said.append(Words(SIGNED))
    if len(columns) == 1:
        return scene(*said, *columns[0])
    return scene(*said, Row([*map(Column, columns)], [1] * len(columns)))


def layer_of_text(result: Result, run: Opened) -> Scene:
    """All heads of a layer over a text, and all that could not be used as it was set."""
    sample = measure_words.sample_words(run.glance.seen)
    of = f"· of {sample}" if sample else ""
    return scene(
        titled("Every head of the layer", of, hint="click one"),
        _grid(run, result.head),
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
