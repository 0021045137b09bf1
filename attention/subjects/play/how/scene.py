"""Scenes of How: stages of the chosen word in rows, one of them in matrices, one's own matrices."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from attention.core.settings import settings_of
from attention.figures.matrices import Changes, Matrices, Sizes
from attention.figures.matrix import MAX_CELLS, Matrix
from attention.figures.scene import Figure, Scene, Words, note, scene
from attention.figures.stacks import STACK, resized, typed_stack
from attention.figures.word_rows import WordRows
from attention.subjects.play.how import Computation, Step, step
from attention.subjects.play.how.own_matrices import STACKS, OwnMatrixSettings
from attention.subjects.play.how.rows import name_of, stage_names, word_rows

UNFIT = "The steps follow as soon as every matrix fits."
Cell = tuple[int, int]


def own_matrices(
    settings: OwnMatrixSettings, wrong: Mapping[str, str], hidden: Collection[str]
) -> Scene:
    """Matrices to type into and to resize, and the words on what does not fit.

    wrong: by the name of a matrix; hidden: names of those that are not offered.
    """
    matrices: list[Matrix] = []
    sizes: list[Changes] = []
    about = settings_of(OwnMatrixSettings)
    for name in (name for name in about if name not in hidden):
        text, label = getattr(settings, name), about[name].label
        if stack := typed_stack(name, text, MAX_CELLS):
            matrices += stack.every(label)
        if name != "own_mask":  # it follows X
            changes = STACK if name in STACKS else STACK[:4]
            possible = {change: bool(resized(text, change, MAX_CELLS)) for change in changes}
            sizes.append({"stack": name, "label": label, "changes": possible})
    return scene(
        Matrices(matrices, key="typed_matrices", of="given") if matrices else None,
        *(Words(f"{about[name].label}: {words}", "info") for name, words in wrong.items()),
        Sizes(sizes, key="sizes"),
        note(UNFIT) if wrong else None,
    )


def name_of_step(done: Computation, wanted: str) -> str:
    """The step that is shown where one is wanted: the scores where there is none of that name."""
    name = done.alike.get(wanted, wanted)
    return name if name in done.steps else "scores"


def rows(
    done: Computation,
    tokens: Sequence[str],
    query: int,
    wanted: str,
    column: int,
    total: Figure | None = None,
) -> Scene:
    """Stages of the chosen word, a sentence on the chosen one, and the working of a number.

    tokens: as they were typed; column: the key of the number, -1 = none; total: shows the sum.
    """
    there = stage_names(done)
    name = name_of_step(done, wanted)
    name = name if name in there else "scores"
    figure = WordRows(
        tokens,
        word_rows(done, query),
        chosen=there.index(name),
        opens=True,
        label="Stages of the computation",
        key="rows",
    )
    made = step(name, done)
    shown = made.result.numbers.shape[-1] if name != "output" else 0
    worked = [made.working(query, column)] if 0 <= column < shown else []
    words = Words(["", name_of(done, name), f": {made.why}"], "told")
    return scene(figure, *absent(done, wanted, name), words, *worked, total)


def absent(done: Computation, wanted: str, name: str) -> list[Words]:
    """Note on a stage that is wanted and is not there, [] where it is. name: the one shown."""
    if done.alike.get(wanted, wanted) == name:
        return []
    shown = name_of(done, name)
    return [note(f"Stage “{wanted}” is missing or does nothing here: “{shown}” is shown.")]


def nearest(step: Step, cell: Cell) -> Cell:
    """The cell of a result that is nearest to a chosen one: the matrices differ in size."""
    row, column = (
        max(0, min(at, size - 1)) for at, size in zip(cell, step.result.numbers.shape, strict=True)
    )
    return row, column


def matrices(made: Step, cell: Cell, pickable: bool) -> Scene:
    """Purpose of a step, and its matrices, with a cell lit."""
    figure = Matrices(made.parts, cell, pickable, key="matrices")
    return scene(Words(made.why, "told"), figure)


def chosen_step(done: Computation, wanted: str) -> tuple[str, Step]:
    """Name and step that are wanted, or the scores."""
    name = name_of_step(done, wanted)
    return name, step(name, done)
