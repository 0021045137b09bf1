"""A training on a page: over, under way, left before its end, or not begun."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from attention.app.controls import notes, works
from attention.app.controls.works import Task
from attention.app.state import session
from attention.subjects.learning import controls
from attention.subjects.learning.component import learning as learning_figure
from attention.training import Run, TrainingSettings
from attention.training.finished import finished
from attention.training.settings import USUAL

KEY = "learning_figure"


def training(settings: TrainingSettings, brief: bool = False) -> None:
    """Draw a training as far as it is, with buttons to begin, pause and end it.

    brief: the maps alone, without curves.
    """
    job = controls.task_of(settings)
    run = controls.finished(settings)
    if run is None and (again := works.pause(job)) is not None:
        st.fragment(_under_way, run_every=again)(settings, job, brief)
        return
    run = controls.finished(settings)
    if run is not None:
        keep(settings)
        learning_figure(run, key=KEY, plays=brief or run is finished(settings.task), brief=brief)
        return
    if words := controls.why_ended(settings):
        notes.note(words)
    left = controls.so_far(settings)
    with st.container(horizontal=True, key="learn_row"):
        words = "Learn" if left is None or words else "Go on"
        st.button(words, key="learn", type="primary", on_click=works.begin, args=(job.what,))
        if words == "Go on":
            st.button("Start over", key="start_over", on_click=_begin_anew, args=(settings, job))
    if left is not None:
        learning_figure(left, key=KEY, brief=brief)
    elif not brief:
        notes.caption(
            "This one has not been learned here yet. It takes from ten seconds to a minute."
        )


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
    waits = f"{state.ahead} of yours come first. " if state.ahead else ""
    others = f"{state.others} others take turns with it." if state.others else ""
    with st.container(horizontal=True, vertical_alignment="bottom", key="learn_row"):
        st.progress(at / of, f"Learning … {waits}{others}".strip())
        st.button("Pause", key="pause", on_click=works.leave, args=(job,))
        st.button("Stop", key="stop", on_click=_stop, args=(settings, job))
    if run is None:
        notes.caption("The process that trains is starting.")
    else:
        learning_figure(run, key=KEY, live=True, brief=brief)


def _begin_anew(settings: TrainingSettings, job: Task) -> None:
    """Learn from the first step on, within a callback."""
    controls.forget(settings)
    works.begin(job.what)


def _stop(settings: TrainingSettings, job: Task) -> None:
    """End a training, within a callback."""
    works.leave(job)
    controls.forget(settings)


def nothing_learned(settings: TrainingSettings) -> None:
    """Draw the maps of a training before its first step, where a packaged run begins with them."""
    usual = finished(settings.task)
    if usual is not None and usual.settings == replace(settings, learn_steps=USUAL):
        learning_figure(Run(settings, usual.progress[:1]), key="before_learning", brief=True)


def keep(settings: TrainingSettings) -> None:
    """Have a run stand beside the others from now on."""
    learned = session.visit().learned
    if settings not in learned:
        session.change(learned=(*learned, settings)[-12:])
