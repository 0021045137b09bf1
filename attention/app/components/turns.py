"""Answers of a browser: their types, which components declare, and what is done with each.

Each answer carries a turn, the number of answers that were given under the key of its component.
The next message to that component gives the last turn back: until it does, the browser drops what
comes, which has not heard of its answer yet (browser/shared/turns.js).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from attention.figures.messages import KINDS, is_a

# What is asked of an answer of the declared type before it is taken, and what is done then.
Handler = tuple[Callable[[Any], bool], Callable[[Any], object]]

KEYS: set[str] = set()  # of all components that were ever drawn and may answer
TURNS = "turns"


def turn_of(key: str) -> int:
    """The turn of the last answer that came under a key in this visit."""
    turns: dict[str, int] = st.session_state.get(TURNS, {})
    return turns.get(key, 0)


def when(key: str, event: str, taken: Handler, within: str = "") -> Callable[[], None]:
    """The callback of an event of the component of that key, or of a figure of that key.

    within: the key of the scene that the figure stands in.
    """
    fits, then = taken
    KEYS.add(within or key)
    name = f"{key}.{event}" if within else event

    def answered() -> None:
        answers = st.session_state.get(within or key)
        carried: Any = answers.get(name) if isinstance(answers, dict) else None
        if is_a(carried, KINDS[event]):
            turn, answer = carried
            st.session_state[TURNS] = {**st.session_state.get(TURNS, {}), key: turn}
            if fits(answer):
                then(answer)

    return answered
