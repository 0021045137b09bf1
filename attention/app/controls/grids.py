"""Stacks of matrices that are settings, written as text in a link, typed into where they stand."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from attention.app.components.turns import Handler
from attention.app.state import session
from attention.app.state.links import every_setting
from attention.figures.matrices import Matrices, Resized, Sizes, TypedCell
from attention.figures.scene import Scene
from attention.figures.stacks import MAX_NUMBERS, with_cell

Edit = Callable[[str, str], None]


def taken(
    shown: Scene, put: Edit, resize: Edit, *, most: int = MAX_NUMBERS
) -> dict[str, dict[str, Handler]]:
    """Handlers of all that is typed and resized in a scene, by the keys of its figures.

    put: gets the name of a setting and its text with that cell; resize: the name of a stack and a
    change to it; most: as in `typed_stack`.
    """

    def type_in(figure: Matrices, cell: TypedCell) -> None:
        name, place = figure.place_of(cell) or ("", 0)
        put(name, with_cell(session.view()[name], place, cell["text"], most))

    def changed(answer: Resized) -> None:
        resize(answer["stack"], answer["change"])

    handlers: dict[str, dict[str, Handler]] = {}
    for figure in shown:
        if isinstance(figure, Matrices):
            typed = partial(type_in, figure)
            handlers[figure.key] = {"typed": (figure.is_typed, typed)}
        elif isinstance(figure, Sizes):
            handlers[figure.key] = {"resized": (figure.has, changed)}
    return handlers


def take_over(name: str, text: str) -> None:
    """Take over the edited text of a setting, within a callback, unless a link has no room."""
    if problem := every_setting()[name].problem(text):
        session.change(refused=problem)
    else:
        session.choose(name, text)
