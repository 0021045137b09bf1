"""Heads: what each head of a layer looks at, and what it adds."""

from dataclasses import replace
from functools import partial

import streamlit as st

from attention.app.cached import overviews, runs
from attention.app.components.scene import draw
from attention.app.components.selection import tell_selection
from attention.app.controls import widgets
from attention.app.controls.part import part
from attention.app.shell import frame
from attention.app.state import session
from attention.app.state.openings import HIDDEN, SHOWN
from attention.app.state.view import View
from attention.figures.lines import HeadLines
from attention.subjects.heads import scene as scenes
from attention.subjects.heads import words as heads_words

QUESTION = "heads"  # names it among the guesses of a visit


def all_heads(view: View) -> None:
    """All that follows from the sentence, the settings, the chosen head and token."""
    result = runs.layer_result(view)
    if result is None or result.memory is not None:
        draw(scenes.all_heads(view), key="all_heads")
        return
    about = replace(result.settings, head=0), QUESTION
    shown = scenes.all_heads(view, view.visit.guesses.get(about))
    fits = range(result.layer.heads).__contains__
    taken = {
        "head_grid": {"head": (fits, widgets.choose_head), "guess": (fits, partial(guess, about))}
    }
    draw(shown, key="all_heads", selection=view.selection, taken=taken)
    with st.container(key="unseen"):  # they keep what is chosen in the pictures and by the button
        widgets.widget(view, "head")
        widgets.widget(view, "numbers")
    label, to = ("Show", SHOWN) if view["numbers"] == HIDDEN else ("Hide", HIDDEN)
    st.button(f"{label} the numbers", on_click=session.choose, args=("numbers", to))
    of_token(view)


def guess(about: tuple[object, str], head: int) -> None:
    """Take a head for the first guess at a question, within a callback. about: see `Visit`."""
    session.change(guesses={about: head, **session.visit().guesses})
    widgets.choose_head(head)


@part
def of_token(view: View) -> None:
    """Where the chosen token looks, what each head adds to it, and where its weights come from."""
    result = runs.layer_result(view)
    if result is None:
        return
    tell_selection(view.selection, session.select)
    if view["numbers"] == SHOWN:
        with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
            widgets.widget(view, "cover", width=180)
            widgets.widget(view, "active", width=180, placeholder="all")
            measures = ("head", *overviews.overview_of(result.settings).measures)
            widgets.widget(view, "sort", offered=measures, narrow=True, width=220)
    shown = scenes.chosen_token(view)
    lines = shown["head_view"]
    assert isinstance(lines, HeadLines)
    taken = {"head_view": {"active": (lines.has, choose_active)}}
    draw(shown, key="token", selection=view.selection, taken=taken)


def choose_active(heads: list[int]) -> None:
    """Choose the heads whose lines are drawn, within a callback."""
    if (result := runs.layer_result(session.view())) is not None:
        session.choose("active", heads_words.write_active(heads, result.layer.heads))


def draw_page(file: str) -> None:
    """Draw the page in its frame. file: that in `pages/`."""
    frame.show(file, all_heads)
