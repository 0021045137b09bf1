"""Works that take long: begun, shown while they are under way, stopped."""

from __future__ import annotations

import atexit
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from attention.app.state import session
from attention.hosting import reruns
from attention.hosting.jobs import Job, Jobs, State, Step

MOMENT = 0.05  # seconds that a page waits for a work that has the server to itself
PAUSE = 0.3  # seconds from one look at a work to the next
MAX_PAUSE = 4.0  # seconds: who waits for many others looks less often

_jobs = Jobs(crowded=reruns.should_yield_to)
atexit.register(_jobs.end)


@dataclass(frozen=True)
class Task:
    """Task to be worked out.

    what: its name; steps: those that are left; quick: whether they take a second or less; unasked:
    whether it begins without a click, where it was not stopped; key: of its button; so_far: draws
    what a step has told that it has found so far, see `jobs.Tell`; jobs: those that it is one of;
    words: on its wait, before it is begun; label: of the button that begins it.
    """

    what: Hashable
    steps: Sequence[Step]
    quick: bool
    unasked: bool
    key: str
    so_far: Callable[[Any], object] | None = None
    jobs: Jobs = field(default=_jobs, repr=False)
    words: str = "This runs the model many times over the sentence, which takes a while."
    label: str = "Work it out"

    @property
    def is_asked_for(self) -> bool:
        """True if it is to be worked out."""
        visit = session.visit()
        return self.what in visit.begun or (self.unasked and visit.stopped != self.what)


def done(task: Task) -> bool:
    """True if nothing is left to be done; else begins it, or shows how far it is."""
    if task.steps and not task.is_asked_for:
        show(task)
        st.caption(task.words)
        return False
    again = pause(task)
    if again is not None:
        session.fragment(_shown, again)(task)
    return again is None


def pause(task: Task, *, waits: bool = True) -> float | None:
    """Ask for a task; seconds until one looks at it again, None where it is not under way.

    The longer, the more come first or have turns. waits: see `ask`.
    """
    if not task.steps or not task.is_asked_for:
        return None
    state = ask(task, waits=waits)
    return None if state.done else min(MAX_PAUSE, PAUSE * (1 + state.ahead + state.others))


def show(task: Task) -> None:
    """Shows how far a work is, in a fragment that asks again; a button where it is not begun."""
    if not task.is_asked_for:
        st.button(task.label, key=task.key, on_click=begin, args=(task.what,))
        return
    _shown(task)


def ask(task: Task, *, waits: bool = False) -> State:
    """Ask for a task. Raises what one of its steps raises.

    waits: whether to wait for it as long as `patience` has it.
    """
    job, owner = Job(task.what, task.steps, task.quick), session.owner(task.key)
    state = task.jobs.ask(owner, job)
    if waits and not state.done and (seconds := patience(state, owner.address)):
        with reruns.pause():
            state = task.jobs.ask(owner, job, seconds)
    if state.done:
        session.change(begun=session.visit().begun - {task.what})
    return state


def patience(state: State, address: str) -> float:
    """Seconds that a page waits for a work: none where others have a turn, or wait for one."""
    return 0.0 if state.others or reruns.should_yield_to(address) else MOMENT


def _shown(task: Task) -> None:
    """Show how far a work is; once it is over, the page."""
    if not task.is_asked_for:
        st.rerun()
    with session.turn(session.view().page):
        state = ask(task)
    if state.done:
        st.rerun()
    if task.so_far is not None and state.found is not None:
        task.so_far(state.found)
    at, of = state.parts
    waits = f" · {state.ahead} before it" if state.ahead else ""
    with st.container(horizontal=True, vertical_alignment="bottom", key=f"{task.key}_way"):
        st.progress(at / of, f"{state.title} …{waits}")
        stop = f"{task.key}_stop"
        st.button("Stop", icon=":material/stop:", key=stop, on_click=leave, args=(task,))


def begin(what: Hashable) -> None:
    """Ask for a work, within a callback."""
    session.change(begun=session.visit().begun | {what}, stopped=None)


def leave(task: Task) -> None:
    """Ask no more for a work, within a callback."""
    session.change(begun=session.visit().begun - {task.what}, stopped=task.what)
    task.jobs.leave(session.owner(task.key))
