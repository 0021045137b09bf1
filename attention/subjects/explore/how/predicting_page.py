"""Guessing before a result is shown: a question, an answer, and what is said to it."""

from __future__ import annotations

import functools
from collections.abc import Callable

import streamlit as st

from attention.app.components.scene import draw
from attention.app.state import session
from attention.app.state.view import View
from attention.app.state.visit import Visit
from attention.figures.mask_grid import MaskGrid, Paint
from attention.figures.scene import Words, note, scene
from attention.subjects.explore.how import Step, predicting
from attention.subjects.explore.how.predicting import Answer, Cell

TYPED = ("number", "terms")


def ask(view: View, step: Step, wanted: str, cell: Cell) -> str:
    """Ask about a step, or say how good the answer was; gives what is asked, "" once answered.

    wanted: the question to ask, or "suited"; cell: the one that is asked about. An answer holds as
    long as the numbers stay as they were.
    """
    asked = predicting.question(step, wanted, cell)
    fits = wanted in ("suited", asked)
    other = (
        None if fits else note("The chosen question does not fit this step; another one is asked.")
    )
    answer: Answer | None = view.visit.answer
    if answer is not None and (answer.identity, answer.asked) == (step.identity, asked):
        draw(scene(other, note(predicting.verdict(step, answer))), key="verdict")
        st.button("Hide and guess again", on_click=_guess_again)
        return ""
    with st.container(key="to_answer"):
        words = Words(predicting.words(step, asked, cell), "note", predicting.HINTS[asked])
        grid, taken = None, {}
        if asked == "mask":
            names, hidden = step.result.row_names, _marks(view.visit, step.identity)
            mask = predicting.mask_of_marks(step, hidden).int().tolist()
            grid = MaskGrid(names, names, mask, key="marked_cells")
            taken = {"marked_cells": {"paint": (grid.has, functools.partial(_mark, step.identity))}}
        draw(scene(other, words, grid), key="to_guess", taken=taken)
    if asked in TYPED:
        _ask_number(step.identity, asked, cell)
    elif asked == "mask":
        st.button("Check", on_click=_check, args=(step.identity,))
    return asked


def _ask_number(identity: int, asked: str, cell: Cell) -> None:
    with (
        st.form("number", border=False),
        st.container(horizontal=True, vertical_alignment="bottom"),
    ):
        st.text_input("Your number", key="typed", max_chars=20, width=190)
        st.form_submit_button("Check", on_click=_say, args=(identity, asked, cell))
    if wrong := session.visit().refused:
        session.change(refused="")
        draw(scene(note(wrong)), key="refused")


def chooser(view: View, identity: int, asked: str, cell: Cell) -> Callable[[Cell], None] | None:
    """Make what a click into the result does: choose a cell, and answer where that is the answer.

    None where the answer is given elsewhere. Where a link hides row or column, the cell stays.
    """
    answers, stays = asked in ("row", "greatest"), view.hidden & {"query", "column"}
    if asked == "mask" or (stays and not answers):
        return None

    def choose(chosen: Cell) -> None:
        row, column = chosen
        if asked == "row" and row != cell[0]:
            return
        if not stays:
            session.select({**view.selection["values"], "query": row})
            session.choose("column", column)
        if answers:
            session.change(answer=Answer(identity, asked, (row, column)))

    return choose


def _say(identity: int, asked: str, cell: Cell) -> None:
    """Take the typed number for the answer, within a callback."""
    typed = str(st.session_state["typed"])
    number = predicting.read_number(typed)
    if number is None:
        session.change(refused=f"“{typed}” is no number; one is written as in −0.25.")
    else:
        session.change(answer=Answer(identity, asked, cell, number))


def _marks(visit: Visit, identity: int) -> frozenset[Cell]:
    """The cells of a step that are marked as hidden so far."""
    of, cells = visit.marked
    return cells if of == identity else frozenset()


def _mark(identity: int, painted: Paint) -> None:
    """Mark cells as hidden or not, within a callback."""
    marked, cells = _marks(session.visit(), identity), {(i, j) for i, j in painted["cells"]}
    now = marked - cells if painted["allowed"] else marked | cells
    session.change(marked=(identity, now))


def _check(identity: int) -> None:
    """Take the marked cells for the hidden ones, within a callback."""
    marked = _marks(session.visit(), identity)
    session.change(answer=Answer(identity, "mask", marked=marked))


def _guess_again() -> None:
    """Forget the answer, within a callback."""
    session.change(answer=None, marked=Visit().marked)
