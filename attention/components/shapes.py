"""Types of a browser's answers, which components declare, and what is done with an answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from attention.display.messages import is_a

# What is asked of an answer of the declared type before it is taken, and what is done then.
Taken = tuple[Callable[[Any], bool], Callable[[Any], object]]

KINDS: dict[str, Any] = {}  # the type of what each event of a component carries
KEYS: set[str] = set()  # of all components that were ever drawn and may answer


def declare(event: str, kind: Any) -> None:
    """Let events of that name carry what is of that type."""
    if KINDS.setdefault(event, kind) != kind:
        raise ValueError(f"event {event!r} already carries {KINDS[event]}, got {kind}")


def when(key: str, event: str, taken: Taken) -> Callable[[], None]:
    """The callback of an event of the component of that key."""
    fits, then = taken
    KEYS.add(key)

    def answered() -> None:
        answers = st.session_state.get(key)
        value = answers.get(event) if isinstance(answers, dict) else None
        if is_a(value, KINDS[event]) and fits(value):
            then(value)

    return answered
