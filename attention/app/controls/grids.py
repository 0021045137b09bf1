"""Stacks of matrices that are settings, written as text in a link, as grids of numbers to edit."""

from __future__ import annotations

from functools import partial

import streamlit as st

from attention.app.components.inputs import number_grid
from attention.app.controls import notes
from attention.app.state import session
from attention.app.state.links import every_setting
from attention.app.state.view import View
from attention.figures.stacks import fits_a_grid, parts_of, with_part


def stack_grids(view: View, name: str) -> None:
    """A grid of number boxes for each matrix of the stack that a setting writes."""
    label, text = every_setting()[name].label, view[name]
    parts = parts_of(text)
    with st.container(horizontal=True, gap="medium"):
        for index, part in enumerate(parts):
            if not fits_a_grid(part):
                st.caption("Too many cells for a grid: the text below holds them.")
                continue
            number_grid(
                f"{label}[{index}]" if len(parts) > 1 else label,
                part,
                partial(edit_part, name, text, index),
                key=f"grid_{name}_{index}",
                resizable=False,
            )


def change_button(label: str, key: str, texts: dict[str, str] | None, words: str) -> None:
    """A button that puts other texts into settings; None: there is nothing to put."""
    st.button(
        label,
        key=key,
        help=words,
        type="tertiary",
        disabled=texts is None,
        on_click=edit_all,
        args=(texts,),
    )


def edit_part(name: str, text: str, index: int, part: str) -> None:
    """Take over one edited matrix of a stack, within a callback."""
    edit_all({name: with_part(text, index, part)})


def edit_all(texts: dict[str, str]) -> None:
    """Take over edited texts by setting, within a callback, unless one is too long for a link."""
    problems = [every_setting()[name].problem(text) for name, text in texts.items()]
    if problem := next(filter(None, problems), None):
        session.change(refused=problem)
        return
    for name, text in texts.items():
        session.choose(name, text)


def words_on_edit() -> None:
    """Why the last edit was not taken over, if it was not."""
    if words := session.visit().refused:
        session.change(refused="")
        notes.note(words)
