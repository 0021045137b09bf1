"""Works that take long: begun, shown while they are under way, stopped."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import streamlit as st

from attention.app import session
from attention.hosting import work
from attention.hosting.jobs import Jobs, State, Step, in_turn

WAIT = 0.3  # seconds that a page waits for a work before it goes on without
PAUSE = 0.4  # seconds from one look at a work to the next

# Quick ones wait for quick ones alone.
_jobs = {quick: Jobs() for quick in (True, False)}


@dataclass(frozen=True)
class Task:
    """What is to be worked out.

    what: its name, the same for all who need it; steps: those that are left; quick: whether it
    takes a second or less; unasked: whether it begins without a click, where it was not stopped;
    key: of its button.
    """

    what: Hashable
    steps: Sequence[Step]
    quick: bool
    unasked: bool
    key: str

    @property
    def is_asked_for(self) -> bool:
        """Whether it is to be worked out."""
        visit = session.visit()
        return self.what in visit.begun or (self.unasked and visit.stopped != self.what)


def done(task: Task) -> bool:
    """Whether nothing is left to be done; else begins it, or shows how far it is."""
    if not task.steps:
        return True
    if not task.is_asked_for:
        st.button("Work it out", key=task.key, on_click=_begin, args=(task.what,))
        st.caption("This runs the model many times over the sentence, which takes a while.")
        return False
    with work.waiting():
        state = _ask(task, WAIT)
    if state.done:
        return True
    st.fragment(_shown, run_every=PAUSE)(task)
    return False


def _ask(task: Task, wait: float = 0.0) -> State:
    state = _jobs[task.quick].ask(task.what, in_turn(task.steps), wait)
    if state.done:
        session.change(begun=session.visit().begun - {task.what})
    return state


def _shown(task: Task) -> None:
    """How far a work is; once it is over, the page."""
    if not task.is_asked_for:
        st.rerun()
    with session.turn(session.view().page):
        state = _ask(task)
    if state.done:
        st.rerun()
    steps, (at, of) = task.steps, state.steps
    title = steps[min(len(steps) * at // of, len(steps) - 1)][0]
    waits = f" · {state.ahead} before it" if state.ahead else ""
    with st.container(horizontal=True, vertical_alignment="bottom", key=f"{task.key}_way"):
        st.progress(at / of, f"{title} …{waits}")
        stop = f"{task.key}_stop"
        st.button("Stop", icon=":material/stop:", key=stop, on_click=_stop, args=(task.what,))


def _begin(what: Hashable) -> None:
    """Ask for a work, within a callback."""
    session.change(begun=session.visit().begun | {what}, stopped=None)


def _stop(what: Hashable) -> None:
    """Ask no more for a work, within a callback."""
    session.change(begun=session.visit().begun - {what}, stopped=what)
