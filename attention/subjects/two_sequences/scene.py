"""Scenes of Two sequences: a batch with its padding, and a number of its output worked out."""

from __future__ import annotations

from attention.app.state.view import View
from attention.figures import result_words
from attention.figures.matrices import Matrices
from attention.figures.scene import Figure, Scene, Words, note, scene
from attention.subjects.two_sequences import words as cross_words
from attention.subjects.two_sequences.words import Batch

CELL = ("sequence", "row", "dimension")
NO_MEMORY = "The memory is empty: there are no keys and values yet. Type a second sentence."
NO_QUERIES = "The first sentence has no words yet, so there are no queries."


def cell(view: View, made: Batch) -> tuple[int, int, int]:
    """The chosen number of the output, or the nearest there is: batches differ in size."""
    sizes = zip(CELL, made.trace.output.shape, strict=True)
    sequence, row, dimension = (min(int(view[name]), size - 1) for name, size in sizes)
    return sequence, row, dimension


def batch(view: View, made: Batch) -> Scene:
    """Every sequence of a batch, in each of which a number of the output can be chosen."""
    sequence, *chosen = cell(view, made)
    lines: list[Figure] = []
    for index in range(len(made.titles)):
        its = (chosen[0], chosen[1]) if index == sequence else None
        parts, key = cross_words.overview(made, index), f"sequence_{index}"
        of = f"sequence {index}"
        lines.append(Words(cross_words.heading(made, index), "told"))
        lines.append(Matrices(parts, its, True, written=10, of=of, key=key))
    gone = [
        note(f"There is no {name} {view[name]} in this batch; showing the last, {size - 1}.")
        for name, size in zip(CELL, made.trace.output.shape, strict=True)
        if int(view[name]) >= size
    ]
    return scene(
        *map(note, made.notes),
        *result_words.unknown_words(made.unknown),
        *gone,
        Words(cross_words.outputs(made), "told") if cross_words.outputs(made) else None,
        *lines,
        Words(cross_words.hatching_words(made)),
    )


def working(view: View, made: Batch) -> Scene:
    """One number worked out, where the scores come from, and what the weights take."""
    sequence, row, dimension = cell(view, made)
    of = f"how sequence {sequence} gets there"
    origin, sources = cross_words.origin(made, sequence), cross_words.sources(made, sequence)
    return scene(
        cross_words.working(made, sequence, row, dimension),
        Words("Where the scores come from: every query q meets every key k."),
        Matrices(origin, written=10, of=of, key="origin"),
        Words("Where the output comes from: the values, each as strong as its weight."),
        Matrices(sources, (row, dimension), written=10, of=of, key="sources"),
    )
