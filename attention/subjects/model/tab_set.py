"""A set of prompts: put in, refused row by row, asked, and all heads switched off over it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import streamlit as st

from attention.app.components.scene import draw
from attention.app.components.turns import Handler
from attention.app.controls import works
from attention.app.state import session
from attention.app.state.shared import load_model
from attention.app.state.uploads import text_of
from attention.app.state.view import View
from attention.figures.scene import digest, heading, note, scene
from attention.subjects.model import choices, set_numbers, set_scene
from attention.subjects.model.answers import kind_of
from attention.subjects.model.options import REWORDED
from attention.subjects.model.passport_figures import HeadAtlas
from attention.subjects.model.set_numbers import EXAMPLE, PromptSet

OPEN, FILE = "set_open", "set_file"
SECONDS = 4  # that all heads over a prompt take on two cores, about
TOLD = (
    "One line a prompt: prompt, answer, and where there is one a foil, 5 to 200 of them. A prompt "
    "with commas stands in quotes."
)


def draw_set(view: View) -> None:
    """Ways to put a set in, its rows, and all heads over it."""
    draw(scene(heading("A set of prompts")), key="set_heading")
    if kind_of(load_model(view["model"])) != "piece":
        draw(scene(note("This model says no next word: a set needs one that does.")), key="no_set")
        return
    ways_in(view)
    if words := session.visit().refused:
        session.change(refused="")
        draw(scene(note(words)), key="set_refused")
    try:
        asked = set_numbers.set_of(view)
    except ValueError as problem:
        draw(scene(note(str(problem))), key="no_set")
        return
    first = set_numbers.steps_to_before(asked)
    if works.done(works.Task(("before", asked), first, True, True, "set_before")):
        again = works.pause(task_of(asked))
        session.fragment(drawn, again)(asked, again is not None)


def ways_in(view: View) -> None:
    """Another set, typed or as a file; rewordings of the sentence; the example."""
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        with st.popover("Put in your own", key=OPEN, on_change="rerun"):
            _form(view["prompts"])
        for label, setting in (("Begin from this sentence", REWORDED), ("The example", "")):
            if view["prompts"] != setting:
                take = partial(session.choose, "prompts", setting)
                st.button(label, type="tertiary", on_click=take)


def _form(setting: str) -> None:
    try:
        text = EXAMPLE if setting == REWORDED else set_numbers.text_of(setting)
    except ValueError:
        text = ""
    key = f"set_typed_{digest(text.encode())}"
    with st.form("set_form", border=False):
        st.text_area("Prompts", text, height=260, width=520, key=key, help=TOLD)
        st.form_submit_button("Read it", on_click=_take, args=(key,))
    st.file_uploader(
        "Or a CSV file", type=["csv", "txt", "tsv"], key=FILE, on_change=_take, args=(FILE,)
    )


def _take(key: str) -> None:
    """Show the set that a box or a file has, or say why not, within a callback."""
    given, st.session_state[OPEN] = st.session_state.get(key), False
    try:
        text = given if isinstance(given, str) else text_of(given) if given else ""
        session.choose("prompts", set_numbers.packed(text) if text.strip() else "")
    except ValueError as problem:
        session.change(refused=str(problem))


def task_of(asked: PromptSet) -> works.Task:
    """The work of switching off every head on every prompt; goes on by itself once it is begun."""
    before = set_numbers.before_of(asked)
    steps = set_numbers.steps_to_changes(asked, before)
    begun = 0 < len(steps) < len(before)
    words = f"Each head off on each of {len(before)} prompts takes some {SECONDS} seconds a prompt."
    return works.Task(
        ("set", asked), steps, False, begun, "set_work", words=words, label="Switch off each head"
    )


def drawn(asked: PromptSet, looks_again: bool) -> None:
    """Rows and heads as far as they are worked out, and how far that is.

    looks_again: whether it is drawn anew by itself, as long as something is being worked out.
    """
    view = session.shown_view()
    task = task_of(asked)
    under_way = works.pause(task, waits=False) is not None
    if set_numbers.set_of(view) != asked or under_way != looks_again:
        st.rerun()
    before = set_numbers.before_of(asked)
    shown = set_numbers.changes_of(asked, before, view["metric"])
    if task.steps:
        works.show(task)
        if not task.is_asked_for:
            st.caption(task.words)
    if shown.known:
        figure = set_scene.heads(view, asked, before, shown)
        atlas = figure["set_map"]
        assert isinstance(atlas, HeadAtlas)
        taken: Mapping[str, Handler] = {
            "head": (atlas.has_head, partial(choices.choose_position, asked.model)),
            "shade": (atlas.has_shade, partial(session.choose, "metric")),
        }
        draw(figure, key="set_heads", taken={atlas.key: taken})
    draw(set_scene.rows(view, asked, before, shown), key="set_table")
