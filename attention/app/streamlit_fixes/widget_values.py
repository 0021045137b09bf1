"""Take no value that a widget of that kind cannot have: see docs/upstream.md."""

from __future__ import annotations

import contextlib
from typing import Any

from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.runtime.state.common import WidgetMetadata, unpack_widget_state_value
from streamlit.runtime.state.session_state import Serialized, Value, WStates

NUMBERS = {"double_value", "int_value"}  # a box is declared as the first, and sends its own

_get, _set = WStates.__getitem__, WStates.set_widget_from_proto


def take_only_own_values() -> None:
    """Have any other value that is sent for a widget pass for none: it keeps the one it has."""
    for name, ours in {"__getitem__": _value_of, "set_widget_from_proto": _take}.items():
        setattr(WStates, name, ours)


def _take(states: WStates, widget_state: WidgetState) -> None:
    """Take what was sent for a widget, unless it would only seem changed by it."""
    _set(states, widget_state)
    if (name := widget_state.id) in states.widget_metadata and name not in states:
        del states.states[name]


def _value_of(states: WStates, name: str) -> Any:
    """Value of a widget. Raises KeyError where nothing was sent that it can have."""
    state, metadata = states.states.get(name), states.widget_metadata.get(name)
    if not isinstance(state, Serialized) or metadata is None:
        return _get(states, name)
    with contextlib.suppress(Exception):  # of any kind: it depends on what was sent
        if _fits(state.value, metadata):
            value = metadata.deserializer(unpack_widget_state_value(state.value))
            states.states[name] = Value(value)
            return value
    raise KeyError(name)


def _fits(state: WidgetState, metadata: WidgetMetadata[Any]) -> bool:
    """True if a widget may send such a value; of options, some that it has."""
    kind, options = state.WhichOneof("value"), metadata.formatted_options
    if kind is None or {kind, metadata.value_type} == NUMBERS:
        return True
    if kind != metadata.value_type or options is None:
        return kind == metadata.value_type
    sent = unpack_widget_state_value(state)
    named = [sent] if isinstance(sent, str) else sent
    repeated = len({*named}) < len(named) and not metadata.allow_url_duplicates
    return {*named} <= {*options} and not repeated
