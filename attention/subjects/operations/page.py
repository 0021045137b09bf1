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
from attention.figures.stacks import resized
from attention.subjects import operations
from attention.subjects.operations import OPERATIONS, Made, OperationSettings, Refused
from attention.subjects.operations import scene as scenes
from attention.subjects.operations.settings import CHANGES

CELL = ("operation_batch", "operation_row", "operation_column")


def operation_page(view: View) -> None:
    """One operation: what it is for, numbers to change, and their result, which is sent first.

    The text has its own container, so that it stays open while what is typed there does not fit.
    """
    settings = view.of(OperationSettings)
    operation, made = OPERATIONS[settings.operation], operations.prepare(settings)
    above, below, text = (st.container() for _ in range(3))
    with below:
        with st.container(
            horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"
        ):
            st.text("" if isinstance(made, Refused) else made.shapes, width="content")
            numbers_to_try(operation)
        if isinstance(made, Refused):
            refused(made)
        else:
            answer(view, made, settings)
    with text, st.expander("The same as text"):
        for name in filter(view.applies, operation.inputs):
            if name in CHANGES:
                widgets.widget(view, name)
    with above:
        introduction(view, operation)
        inputs(view, settings)


def introduction(view: View, operation: operations.Operation) -> None:
    """The choice of blocks, and what the chosen one is for."""
    widgets.widget(view, "operation", label_visibility="collapsed")
    words, formula = st.columns(2, gap="large", vertical_alignment="center")
    words.text(operation.why)
    formula.latex(operation.formula)


def inputs(view: View, settings: OperationSettings) -> None:
    """The numbers of the operation, as grids to edit, and its other settings."""
    with st.container(horizontal=True, gap="large", key="inputs"):
        for name in filter(view.applies, OPERATIONS[settings.operation].inputs):
            about = every_setting()[name]
            if name in CHANGES:
                stack(view, name, about.label, getattr(settings, name))
            else:
                widgets.widget(view, name, width="content" if about.choices else 240)
    grids.words_on_edit()


def stack(view: View, name: str, label: str, text: str) -> None:
    """A grid of number boxes for each matrix of a stack, and buttons that resize them all."""
    with st.container(width="content", gap="small"):
        grids.stack_grids(view, name)
        with st.container(horizontal=True, gap="small"):
            for change in CHANGES[name]:
                new = resized(text, change)
                texts = None if new is None else {name: new}
                grids.change_button(change, f"{change} {name}", texts, f"{change} of {label}")


def numbers_to_try(operation: operations.Operation) -> None:
    """Numbers worth a look, a click away."""
    tries: dict[str, Mapping[str, Value]] = {"the first example": {}, **operation.examples}
    values = list(tries.values())
    examples("try", list(tries), lambda index: take(values[index], operation), key="examples")


def take(values: Mapping[str, Value], operation: operations.Operation) -> None:
    """Put an example's numbers in, within a callback."""
    for name in operation.inputs:
        if name in CHANGES:
            session.choose(name, values.get(name, every_setting()[name].default))


def refused(made: Refused) -> None:
    """Why there is no answer, and torch's own words where it was asked."""
    left, right = st.columns([3, 2], gap="medium")
    with left:
        draw(scenes.reasons(made), key="reasons")
    if made.torch_says:
        with right:
            st.code(made.call, wrap_lines=True)
            draw(scenes.torch_says(made), key="torch_says")


def answer(view: View, made: Made, settings: OperationSettings) -> None:
    """The result, the working of what is chosen in it, and torch's own answer."""
    left, right = st.columns([3, 2], gap="medium")
    taken = {
        key: {"cell": (made.has, partial(choose, index))}
        for index, key in enumerate(scenes.keys(made))
    }
    with left:
        draw(scenes.results(made, settings), key="results", taken=taken)
    with right:
        draw(scenes.working(made, settings), key="working")
        cell_controls(view, made)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        draw(scenes.of_torch(made), key="of_torch")
    with right:
        st.code(made.call, wrap_lines=True)
    if made.contrast:
        draw(scenes.mistake(made.contrast), key="mistake")


def cell_controls(view: View, made: Made) -> None:
    """The chosen cell by number, as far as there is a choice."""
    with st.container(horizontal=True, key="cell"):
        for name, size in zip(CELL, made.sizes, strict=True):
            if size > 1:
                widgets.widget(view, name, width=110)


def choose(picture: int, cell: tuple[int, int]) -> None:
    """Choose a cell, within a callback."""
    for name, position in zip(CELL, (picture, *cell), strict=True):
        session.choose(name, position)


def draw_page(file: str) -> None:
    """Draw the page in its frame. file: that in `pages/`."""
    frame.show(file, operation_page)
