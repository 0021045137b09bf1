"""Scenes of Two sequences: a batch with its padding, and a number of its output worked out."""

from __future__ import annotations

from attention.app.state.view import View
from attention.core.settings import settings_of
from attention.figures import result_words
from attention.figures.matrices import Changes, Matrices, Sizes
from attention.figures.matrix import Matrix
from attention.figures.scene import Figure, Scene, Words, note, scene
from attention.figures.stacks import typed_stack
from attention.subjects.cross import batch_by_hand
from attention.subjects.cross import words as cross_words
from attention.subjects.cross.words import Batch, CrossSettings

CELL = ("sequence", "row", "dimension")
NO_BATCH = "A batch needs a sentence for the queries and at least one memory with a word in it."
NO_MEMORY = "The memory is empty: there are no keys and values yet. Type a second sentence."
NO_QUERIES = "The first sentence has no words yet, so there are no queries."


def by_hand(view: View, refused: str) -> Scene:
    """Queries, keys and values to type into, and buttons that resize the batch.

    refused: why the last change was not taken.
    """
    matrices: list[Matrix] = []
    many: list[Words] = []
    for name in batch_by_hand.TEXTS:
        label = settings_of(CrossSettings)[name].label
        if stack := typed_stack(name, view[name]):
            matrices += stack.every(label)
        else:
            many.append(note(f"{label}: too many cells for a grid; the text holds them."))
    changes = [
        f"{sign} {what}" for what in batch_by_hand.sizes_of(view["toy_scores"]) for sign in "+−"
    ]
    possible = {change: texts_after(view, change) is not None for change in changes}
    batch: Changes = {"stack": "batch", "label": "Batch", "changes": possible}
    typed = Matrices(matrices, key="typed_matrices", of="given") if matrices else None
    return scene(typed, *many, note(refused) if refused else None, Sizes([batch], key="sizes"))


def texts_after(view: View, change: str) -> dict[str, str] | None:
    """The texts that a change of the batch makes others, None where it cannot be made."""
    texts = {name: view[name] for name in (*batch_by_hand.TEXTS, "toy_lens")}
    return batch_by_hand.texts_after(texts, change, view["toy_scores"])


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
        Words(cross_words.origin_words(made)),
        Matrices(origin, written=10, of=of, key="origin"),
        Words("Where the output comes from: the values, each as strong as its weight."),
        Matrices(sources, (row, dimension), written=10, of=of, key="sources"),
    )
