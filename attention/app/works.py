"""Works that take long: begun, shown while they are under way, stopped."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import streamlit as st

from attention.app import session
from attention.hosting.jobs import Jobs, State, Step, in_turn

WAIT = 0.3  # seconds that a page waits for a work before it goes on without
PAUSE = 0.4  # seconds from one look at a work to the next

# Quick ones wait for quick ones alone.
_jobs = {quick: Jobs() for quick in (True, False)}


def done(what: Hashable, steps: Sequence[Step], quick: bool, key: str) -> bool:
    """Whether nothing is left to be done; else begins it, or shows how far it is.

    what: the work, the same for all who need it; steps: those that are left; quick: whether it
    begins unasked, where it was not stopped; key: of its button.
    """
    if not steps:
        return True
    if not _is_asked_for(what, quick):
        st.button("Work it out", key=key, on_click=_begin, args=(what,))
        st.caption("This runs the model many times over the sentence, which takes a while.")
        return False
    if _ask(what, steps, quick, WAIT).answer is not None:
        return True
    st.fragment(_shown, run_every=PAUSE)(what, steps, quick, key)
    return False


def _ask(what: Hashable, steps: Sequence[Step], quick: bool, wait: float = 0.0) -> State:
    state = _jobs[quick].ask(what, in_turn(steps), wait, keep=False)
    if state.answer is not None:
        session.change(begun=session.visit().begun - {what})
    return state


def _is_asked_for(what: Hashable, quick: bool) -> bool:
    visit = session.visit()
    return what in visit.begun or (quick and visit.stopped != what)


def _shown(what: Hashable, steps: Sequence[Step], quick: bool, key: str) -> None:
    """How far a work is; once it is over, the page."""
    now = session.view()
    if not _is_asked_for(what, quick):
        st.rerun()
    with session.turn(now.page):
        state = _ask(what, steps, quick)
    if state.answer is not None:
        st.rerun()
    at, of = state.steps
    title = steps[min(len(steps) * at // of, len(steps) - 1)][0]
    waits = f" · {state.ahead} before it" if state.ahead else ""
    with st.container(horizontal=True, vertical_alignment="bottom", key=f"{key}_way"):
        st.progress(at / of, f"{title} …{waits}")
        st.button("Stop", icon=":material/stop:", key=f"{key}_stop", on_click=_stop, args=(what,))


def _begin(what: Hashable) -> None:
    """Ask for a work, within a callback."""
    session.change(begun=session.visit().begun | {what}, stopped=None)


def _stop(what: Hashable) -> None:
    """Ask no more for a work, within a callback."""
    session.change(begun=session.visit().begun - {what}, stopped=what)
