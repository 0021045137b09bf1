"""A training on a page: over, under way, left before its end, or not begun."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from attention.app.components.scene import draw
from attention.app.components.turns import Handler
from attention.app.controls import works
from attention.app.controls.works import Task
from attention.app.state import session
from attention.figures.scene import Figure
from attention.subjects.learning import controls
from attention.subjects.learning import scene as scenes
from attention.subjects.learning.race import RaceOfMemory
from attention.training import Run, TrainingSettings
from attention.training.tasks.race import SHOWN

KEY = "training"  # of its scene


def training(settings: TrainingSettings, brief: bool = False) -> None:
    """Draw a training as far as it is, with buttons to begin, pause and end it.

    brief: the maps alone, without curves. How it ended is the page's to say.
    """
    job = controls.task_of(settings)
    if controls.finished(settings) is None and (again := works.pause(job)) is not None:
        session.fragment(_under_way, again)(settings, job, brief)
        return
    with st.container():  # as in a fragment, and a row before the figure: it never moves
        _at_rest(settings, job, brief)


def _at_rest(settings: TrainingSettings, job: Task, brief: bool) -> None:
    """A training that is over, was left, or was never begun here."""
    run = controls.finished(settings)
    words, left = controls.why_ended(settings), controls.so_far(settings)
    with st.container(horizontal=True, key="learn_row"):
        if run is None:
            label = "Learn" if left is None or words else "Go on"
            lacking = controls.lacking(settings)
            about: dict[str, Any] = {
                "disabled": bool(lacking),
                "on_click": works.begin,
                "args": (job.what,),
            }
            st.button(label, key="learn", type="primary", **about)
            if lacking:
                st.text(lacking)
            if label == "Go on":
                anew = (settings, job)
                st.button("Start over", key="start_over", on_click=_begin_anew, args=anew)
    if run is not None:
        keep(settings)
        pairs = int(session.view()["learn_pairs"])
        drawn = scenes.finished(run, brief, pairs, told=False)
        taken = {} if brief else {each.key: choices(each) for each in drawn}
        draw(drawn, key=KEY, taken=taken)
    else:
        draw(scenes.unfinished(left or controls.untrained(settings), brief, words), key=KEY)


def choices(figure: Figure) -> Mapping[str, Handler]:
    """Handlers of the events of the figure of a training, see `draw`."""
    if not isinstance(figure, RaceOfMemory):
        return {}
    return {
        "width": (
            figure.sizes.__contains__,
            lambda width: session.choose("learn_width", figure.width_of(width)),
        ),
        "pairs": (
            SHOWN.__contains__,
            lambda pairs: session.choose("learn_pairs", str(pairs)),
        ),
    }


def _under_way(settings: TrainingSettings, job: Task, brief: bool) -> None:
    """A training under way, drawn again and again; once it is over, the page."""
    if not job.is_asked_for:
        st.rerun()
    with session.turn(session.view().page):
        state = works.ask(job)
    if state.done:
        st.rerun()
    run = state.found if isinstance(state.found, Run) else controls.so_far(settings)
    at, of = state.parts
    take = "other takes" if state.others == 1 else "others take"
    others = f"{state.others} {take} turns with it." if state.others else ""
    with st.container(horizontal=True, vertical_alignment="bottom", key="learn_row"):
        st.progress(at / of, f"Learning … {others}".strip())
        st.button("Pause", key="pause", on_click=works.leave, args=(job,))
        st.button("Stop", key="stop", on_click=_stop, args=(settings, job))
    draw(scenes.under_way(run or controls.untrained(settings), brief), key=KEY)


def _begin_anew(settings: TrainingSettings, job: Task) -> None:
    """Learn from the first step on, within a callback."""
    controls.forget(settings)
    works.begin(job.what)


def _stop(settings: TrainingSettings, job: Task) -> None:
    """End a training, within a callback."""
    works.leave(job)
    controls.forget(settings)


def keep(settings: TrainingSettings) -> None:
    """Have a run stand beside the others from now on."""
    learned = session.visit().learned
    if settings not in learned:
        session.change(learned=(*learned, settings)[-12:])
