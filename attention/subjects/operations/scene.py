"""Scenes of Operations: numbers to type over with the result, its working, a mistake beside it."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

from attention.figures import tables
from attention.figures.files import first_words
from attention.figures.matrices import Changes, Matrices, Sizes
from attention.figures.matrix import Matrix
from attention.figures.scene import Scene, Table, Words, note, scene, titled
from attention.figures.stacks import TypedMatrix, resized
from attention.figures.tables import whole_number
from attention.subjects import operations
from attention.subjects.operations import Contrast, Made, OperationSettings, Refused
from attention.subjects.operations.settings import CHANGES

TYPE = "Click a number in a frame to type another."


def results(made: Made | Refused, settings: OperationSettings, refused: str = "") -> Scene:
    """All numbers of an operation, each once: those that can be typed over, and its results.

    refused: why the last number typed was not taken.
    """
    given, hint = operations.given(settings, made), TYPE
    rows, most = in_one_scale([*given, *made.pictures])
    figures = [
        Matrices(parts, key=f"picture_given_{index}", of="given")
        for index, parts in enumerate(rows[: len(given)])
    ]
    if isinstance(made, Made):
        picture, row, column = operations.clamped(made, settings)
        figures += [
            Matrices(parts, (row, column) if index == picture else None, True, key=key)
            for index, (key, parts) in enumerate(zip(keys(made), rows[len(given) :], strict=True))
        ]
        hint = f"{TYPE} {made.hint}"
    typed = {
        part.stack for each in figures for part in each.matrices if isinstance(part, TypedMatrix)
    }
    darkest = ", ".join(f"{whole_number(size)} in {name}" for name, size in most.items())
    return scene(
        Words(refused, "info") if refused else None,
        *(
            map(note, made.notes)
            if isinstance(made, Made)
            else [Words(" ".join(made.words), "info")]
        ),
        *figures,
        Words(f"Full colour: {darkest}." if darkest else "", hint=hint),
        sizes(settings, [name for name in CHANGES if name in typed]),
    )


def in_one_scale(
    rows: Sequence[Sequence[Matrix | str]],
) -> tuple[list[list[Matrix | str]], dict[str, float]]:
    """Rows of matrices with one scale of colours for each stack, and the size at which the colours
    of each, by its name, are darkest."""
    most: dict[str, float] = {}
    for part in itertools.chain(*rows):
        if isinstance(part, Matrix):
            stack = part.name.partition("[")[0]
            most[stack] = max(most.get(stack, 0.0), part.most or part.greatest)
    most = {stack: size or 1.0 for stack, size in most.items()}
    scaled = [
        [
            part if isinstance(part, str) else replace(part, most=most[part.name.partition("[")[0]])
            for part in row
        ]
        for row in rows
    ]
    return scaled, most


def sizes(settings: OperationSettings, names: list[str]) -> Sizes:
    """Buttons that resize the stacks of these names."""
    about = operations.labels()
    stacks: list[Changes] = [
        {
            "stack": name,
            "label": about[name],
            "changes": {
                change: resized(getattr(settings, name), change) is not None
                for change in CHANGES[name]
            },
        }
        for name in names
    ]
    return Sizes(stacks, key="sizes")


def keys(made: Made) -> list[str]:
    """The keys of the pictures in which a cell can be chosen."""
    return [f"picture_{index}" for index in range(len(made.pictures))]


def working(made: Made, settings: OperationSettings) -> Scene:
    """The working of the chosen cell."""
    return scene(made.working(*operations.clamped(made, settings)))


def of_torch(made: Made) -> Scene:
    """Difference of torch's own answer from ours, and its numbers where they are others."""
    if made.agrees or not made.answer:
        return scene(Words(made.compared, "told"))
    return scene(
        titled("Torch’s own answer"),
        Matrices(made.answer, key="torchs", of="torch’s own answer"),
        Words(made.compared, "told"),
    )


def mistake(contrast: Contrast) -> Scene:
    """A mistake beside the right result, with what its numbers sum to."""
    return scene(
        titled(contrast.title),
        Words(contrast.words),
        *(
            Matrices(parts, key=f"contrast_{index}")
            for index, parts in enumerate(contrast.pictures)
        ),
        Table(first_words(contrast.title), contrast.names, tables.with_integers(contrast.columns)),
    )


def reasons(made: Refused) -> Scene:
    """First numbers that cannot meet, and torch’s own words where it was asked."""
    return scene(
        Words("The answer follows as soon as the numbers fit."),
        made.worked,
        *([titled("Torch refuses too"), note(made.torch_says)] if made.torch_says else []),
    )
