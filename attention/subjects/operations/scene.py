"""Scenes of Operations: the result with its working, torch's answer, a mistake beside them."""

from __future__ import annotations

from attention.figures import tables
from attention.figures.files import first_words
from attention.figures.matrices import Matrices
from attention.figures.scene import Scene, Table, Words, note, scene, titled
from attention.subjects import operations
from attention.subjects.operations import Contrast, Made, OperationSettings, Refused


def results(made: Made, settings: OperationSettings) -> Scene:
    """The pictures of an operation, in each of which a cell can be chosen."""
    picture, row, column = operations.clamped(made, settings)
    return scene(
        *map(note, made.notes),
        *(
            Matrices(parts, (row, column) if index == picture else None, True, key=key)
            for index, (key, parts) in enumerate(zip(keys(made), made.pictures, strict=True))
        ),
        Words("", hint=made.hint),
    )


def keys(made: Made) -> list[str]:
    """The keys of the pictures in which a cell can be chosen."""
    return [f"picture_{index}" for index in range(len(made.pictures))]


def working(made: Made, settings: OperationSettings) -> Scene:
    """The working of the chosen cell."""
    return scene(made.working(*operations.clamped(made, settings)))


def of_torch(made: Made) -> Scene:
    """Torch's own answer, and its difference from ours."""
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
    """Why there is no answer."""
    follows = Words("The answer follows as soon as the numbers fit.")
    return scene(*map(note, made.words), follows, made.worked)


def torch_says(made: Refused) -> Scene:
    """Torch's own words, where it was asked."""
    return scene(titled("Torch refuses too"), note(made.torch_says))
