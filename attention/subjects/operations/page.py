"""Operations: the operations attention is made of, each beside torch's own answer."""

from collections.abc import Mapping
from functools import partial

import streamlit as st

from attention.app.components.inputs import examples
from attention.app.components.pictures import matrices
from attention.app.controls import grids, notes, widgets
from attention.app.shell import frame
from attention.app.state import session
from attention.app.state.links import every_setting
from attention.app.state.view import View
from attention.core.settings import Value
from attention.figures import tables
from attention.figures.files import first_words
from attention.figures.stacks import resized
from attention.subjects import operations
from attention.subjects.operations import (
    OPERATIONS,
    Contrast,
    Made,
    OperationSettings,
    Refused,
    Worked,
)
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
        for words in made.words:
            notes.note(words)
        st.caption("The answer follows as soon as the numbers fit.")
        if made.worked is not None:
            explain(made.worked)
    if made.torch_says:
        with right:
            st.markdown("**Torch refuses too**")
            st.code(made.call, wrap_lines=True)
            notes.note(made.torch_says)


def answer(view: View, made: Made, settings: OperationSettings) -> None:
    """The result, the working of what is chosen in it, and torch's own answer."""
    for words in made.notes:
        notes.note(words)
    picture, row, column = operations.clamped(made, settings)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        for index, parts in enumerate(made.pictures):
            matrices(
                parts,
                key=f"picture_{index}",
                chosen=(row, column) if index == picture else None,
                on_choose=partial(choose, index),
            )
        notes.caption("", hint=made.hint)
    with right:
        explain(made.working(picture, row, column))
        cell_controls(view, made)
    left, right = st.columns([2, 3], gap="medium")
    with left:
        st.markdown("**Torch’s own answer**")
        st.code(made.call, wrap_lines=True)
    with right:
        matrices(made.answer, key="torchs", of="torch’s own answer")
        st.text(made.compared)
    if made.contrast:
        contrast(made.contrast)


def contrast(wrong: Contrast) -> None:
    """A mistake beside the right result, with what its numbers sum to."""
    st.markdown(f"**{wrong.title}**")
    st.caption(wrong.words)
    for index, parts in enumerate(wrong.pictures):
        matrices(parts, key=f"contrast_{index}")
    columns = tables.with_integers(wrong.columns)
    st.html(tables.table(first_words(wrong.title), wrong.names, columns))


def cell_controls(view: View, made: Made) -> None:
    """The chosen cell by number, as far as there is a choice."""
    with st.container(horizontal=True, key="cell"):
        for name, size in zip(CELL, made.sizes, strict=True):
            if size > 1:
                widgets.widget(view, name, width=110)


def explain(worked: Worked) -> None:
    """A working: its sentence and its table."""
    words = tables.working(tables.Working(worked.words, ()))
    columns = tables.with_integers(worked.columns)
    table = tables.table(tables.WORKING, worked.names, columns, total=worked.total)
    st.html(f"<div class='working'>{words}{table}</div>")


def choose(picture: int, row: int, column: int) -> None:
    """Choose a cell, within a callback."""
    for name, value in (
        ("operation_batch", picture),
        ("operation_row", row),
        ("operation_column", column),
    ):
        session.choose(name, value)


def draw_page(file: str) -> None:
    """Draw the page in its frame. file: that in `pages/`."""
    frame.show(file, operation_page)
