"""Types of a browser's answers, which components declare, and what is done with an answer."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, get_args, get_origin, get_type_hints, is_typeddict

import streamlit as st

MAX_LIST = 5000

# What is asked of an answer of the declared type before it is taken, and what is done then.
Taken = tuple[Callable[[Any], bool], Callable[[Any], object]]

KINDS: dict[str, Any] = {}  # the type of what each event of a component carries
KEYS: set[str] = set()  # of all components that were ever drawn and may answer


def declare(event: str, kind: Any) -> None:
    """Let events of that name carry what is of that type."""
    if KINDS.setdefault(event, kind) != kind:
        raise ValueError(f"event {event!r} already carries {KINDS[event]}, got {kind}")


def is_a(value: object, kind: Any) -> bool:
    """True if a value from JSON is of a type: of numbers, text, lists, tuples and TypedDicts."""
    parts = get_args(kind)
    if is_typeddict(kind):
        fields = get_type_hints(kind)
        return (
            isinstance(value, dict)
            and value.keys() == fields.keys()
            and all(is_a(value[name], part) for name, part in fields.items())
        )
    if get_origin(kind) is list:
        listed = isinstance(value, list) and len(value) <= MAX_LIST
        return listed and all(is_a(one, *parts) for one in value)  # type: ignore[attr-defined]
    if get_origin(kind) is tuple:
        return isinstance(value, list) and len(value) == len(parts) and all(map(is_a, value, parts))
    if kind is float:
        return type(value) is int or (type(value) is float and math.isfinite(value))
    return type(value) is kind


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
