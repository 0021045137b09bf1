"""Operations: the operations attention is made of, each beside torch's own answer."""

from collections.abc import Mapping
from functools import partial

import streamlit as st

from attention.app.components.inputs import examples
from attention.app.components.scene import draw
from attention.app.controls import grids, widgets
from attention.app.shell import frame
from attention.app.state import session
from attention.app.state.links import every_setting
from attention.app.state.view import View
from attention.core.settings import Value
from attention.figures.scene import Words, scene
from attention.figures.stacks import resized
from attention.subjects import operations
from attention.subjects.operations import OPERATIONS, Made, OperationSettings, Refused, sentence
from attention.subjects.operations import scene as scenes
from attention.subjects.operations.settings import CHANGES

CELL = ("operation_batch", "operation_row", "operation_column")


def operation_page(view: View) -> None:
    """One operation: what it is for, numbers to type over with their result, which is sent first.

    The text has its own container, so that it stays open while what is typed there does not fit.
    """
    settings = view.of(OperationSettings)
    operation, made = OPERATIONS[settings.operation], operations.prepare(settings)
    above, below, text = (st.container() for _ in range(3))
    with below:
        with st.container(
            horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"
        ):
            if isinstance(made, Made):
                st.text(made.shapes, width="content")
            known = sentence.numbers_of(view).get(settings.operation)
            numbers_to_try(operation, {sentence.TITLE: known[1]} if known else {})
        if known and _holds(view, known[1]):
            draw(scene(Words(known[0])), key="of_sentence")
        left, right = st.columns([3, 2], gap="medium")
        with left:
            numbers(made, settings)
        with right:
            answer(made, settings)
        if isinstance(made, Made) and made.contrast:
            draw(scenes.mistake(made.contrast), key="mistake")
        if isinstance(made, Made) and made.codes:
            for column, code in zip(st.columns(2), made.codes, strict=True):
                column.code(code, wrap_lines=True)
    with text, st.expander("The same as text"):
        for name in filter(view.applies, operation.inputs):
            if name in CHANGES:
                widgets.widget(view, name)
    with above:
        introduction(view, operation)


def _holds(view: View, values: Mapping[str, Value]) -> bool:
    """True if the settings that have an effect are these."""
    return all(view[name] == value for name, value in values.items() if view.applies(name))


def introduction(view: View, operation: operations.Operation) -> None:
    """The choice of blocks, what the chosen one is for, and its settings."""
    widgets.widget(view, "operation", label_visibility="collapsed")
    words, formula = st.columns(2, gap="large", vertical_alignment="center")
    words.text(operation.why)
    formula.latex(operation.formula)
    others = [name for name in operation.inputs if name not in CHANGES and view.applies(name)]
    if not view["dropout"]:
        others = [name for name in others if name != "dropout_seed"]
    if others:
        with st.container(horizontal=True, gap="large", key="inputs"):
            for name in others:
                widgets.widget(
                    view, name, width="content" if every_setting()[name].choices else 240
                )


def numbers(made: Made | Refused, settings: OperationSettings) -> None:
    """Numbers to type over and to choose among."""
    shown = scenes.results(made, settings, session.visit().refused)
    session.change(refused="")
    taken = grids.taken(shown, type_in, resize)
    for index, key in enumerate(scenes.keys(made) if isinstance(made, Made) else ()):
        assert isinstance(made, Made)
        taken[key]["cell"] = (made.has, partial(choose, index))
    draw(shown, key="results", taken=taken)


def type_in(name: str, text: str) -> None:
    """Take over a text with another number, within a callback, unless it is none that fits."""
    settings = session.view().of(OperationSettings)
    if words := operations.typed_over(settings, name, text):
        session.change(refused=f"{words}. Nothing is changed.")
    else:
        grids.take_over(name, text)


def resize(name: str, change: str) -> None:
    """Resize a stack, within a callback."""
    text = resized(session.view()[name], change)
    if text is not None:
        grids.take_over(name, text)


def numbers_to_try(operation: operations.Operation, own: Mapping[str, Mapping[str, Value]]) -> None:
    """Numbers worth a look, a click away, first those of one's own."""
    tries: dict[str, Mapping[str, Value]] = {**own, "the first example": {}, **operation.examples}
    values = list(tries.values())
    examples("try", list(tries), lambda index: take(values[index], operation), key="examples")


def take(values: Mapping[str, Value], operation: operations.Operation) -> None:
    """Put an example's numbers in, within a callback."""
    for name in operation.inputs:
        if name in CHANGES or name in values:
            session.choose(name, values.get(name, every_setting()[name].default))


def answer(made: Made | Refused, settings: OperationSettings) -> None:
    """The working of the chosen cell and torch's own answer; or what is amiss."""
    if isinstance(made, Refused):
        draw(scenes.reasons(made), key="working")
    else:
        draw(scenes.working(made, settings), key="working")
    if made.call:
        st.code(made.call, wrap_lines=True)
    if isinstance(made, Made):
        draw(scenes.of_torch(made), key="of_torch")


def choose(picture: int, cell: tuple[int, int]) -> None:
    """Choose a cell, within a callback."""
    for name, position in zip(CELL, (picture, *cell), strict=True):
        session.choose(name, position)


def draw_page(file: str) -> None:
    """Draw the page in its frame. file: that in `pages/`."""
    frame.show(file, operation_page)
