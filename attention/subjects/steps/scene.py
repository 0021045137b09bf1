"""Scenes of Step by step: the graph of steps, and the chosen one with the working of a cell."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from attention.core.settings import settings_of
from attention.figures.matrices import Changes, Matrices, Sizes
from attention.figures.matrix import Matrix
from attention.figures.scene import Scene, Words, note, scene
from attention.figures.stacks import STACK, resized, typed_stack
from attention.subjects.steps import Computation, Step, graph
from attention.subjects.steps.figures import StepGraph
from attention.subjects.steps.own_matrices import OwnMatrixSettings

EMPTY = "Type a sentence above, or take one of the examples."
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
        if stack := typed_stack(name, text, alone=True):
            matrices += stack.every(label)
        if name != "own_mask":  # it follows X
            possible = {change: resized(text, change, True) is not None for change in STACK[:4]}
            sizes.append({"stack": name, "label": label, "changes": possible})
    return scene(
        Matrices(matrices, key="typed_matrices", of="given") if matrices else None,
        *(Words(f"{about[name].label}: {words}", "info") for name, words in wrong.items()),
        Sizes(sizes, key="sizes"),
        note(UNFIT) if wrong else None,
    )


def name_of_step(done: Computation, wanted: str) -> str:
    """The step that is shown where one is wanted: the first where there is none of that name."""
    name = done.alike.get(wanted, wanted)
    return name if name in done.steps else done.steps[0]


def steps(done: Computation, wanted: str, offered: bool) -> Scene:
    """The steps there are. offered: whether another can be chosen."""
    name = name_of_step(done, wanted)
    missing = note(f"This computation has no step {wanted}; showing the first.")
    return scene(
        None if name == done.alike.get(wanted, wanted) else missing,
        StepGraph(graph(done), name, key="step_graph") if offered else None,
    )


def nearest(step: Step, cell: Cell) -> Cell:
    """The cell of a result that is nearest to a chosen one: the matrices differ in size."""
    row, column = (
        min(at, size - 1) for at, size in zip(cell, step.result.numbers.shape, strict=True)
    )
    return row, column


def matrices(step: Step, wanted: Cell, asked: str, pickable: bool) -> Scene:
    """Purpose of a step, and its matrices, with a cell lit that is wanted, or the nearest.

    asked: the question about the result, which then stays hidden, "" = none.
    """
    cell = nearest(step, wanted)
    rows, columns = step.result.numbers.shape
    beyond = f"There are {rows} rows and {columns} columns here; showing the nearest cell."
    return scene(
        Words(step.why, "told"),
        None if cell == wanted else note(beyond),
        Matrices(
            step.parts,
            cell if asked in ("", "number") else None,
            pickable,
            hidden=bool(asked),
            asked={"row": (cell[0], None), "number": cell}.get(asked),
            key="matrices",
        ),
    )
