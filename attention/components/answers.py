"""What a browser sends to a component. All of it is looked at here before anything else is done.

Whoever speaks to the server by hand can send anything. `Gate` stands before Streamlit, which
would parse, compare and keep it; the callbacks below know what stands on the page besides. Both
ignore what no component of ours sends.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote_plus

import streamlit as st
from google.protobuf.message import DecodeError
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState

MAX_MESSAGE = 1 << 19  # bytes; every text box filled with the longest text takes less
MAX_WIDGETS = 256
MAX_NAMES = 500  # of an address with more than 1,000 Streamlit reads nothing, and leaves it
MAX_ANSWERS = 1 << 16  # bytes, of one component
MAX_LIST = 5000

Callback = Callable[[], None]
KEYS: set[str] = set()  # of all components that were ever drawn and may answer


def _is_whole(value: object) -> bool:
    return type(value) is int


def _is_number(value: object) -> bool:
    return _is_whole(value) or (isinstance(value, float) and math.isfinite(value))


def _is_pair(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(map(_is_whole, value))


def _is_moved(value: object) -> bool:
    return (
        isinstance(value, list) and len(value) == 2 and _is_whole(value[0]) and _is_number(value[1])
    )


def _is_place(value: object) -> bool:
    match value:
        case {"turn": turn, "values": {"query": query, "stage": stage, **other}, **more}:
            known = _is_whole(turn) and _is_whole(query) and _is_text(stage)
            return known and not other and not more
    return False


def _is_list(value: object, is_part: Callable[[Any], bool]) -> bool:
    return isinstance(value, list) and len(value) <= MAX_LIST and all(map(is_part, value))


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_grid(value: object) -> bool:
    return _is_list(value, lambda row: _is_list(row, _is_text)) and bool(value)


def _is_paint(value: object) -> bool:
    match value:
        case {"cells": cells, "allowed": bool(), **more}:
            return not more and _is_list(cells, _is_pair)
    return False


# What each event of a component of ours may carry.
SHAPES: dict[str, Callable[[object], bool]] = {
    "active": lambda value: _is_list(value, _is_whole),
    "at": _is_moved,
    "cell": _is_pair,
    "cells": _is_grid,
    "example": _is_whole,
    "head": _is_whole,
    "paint": _is_paint,
    "place": _is_place,
    "step": _is_text,
}


class Gate:
    """Before the server: lets through of each message what Streamlit can handle, and soon."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def receive_checked() -> Message:
            while (message := await receive())["type"] == "websocket.receive":
                if (data := checked(message.get("bytes") or b"")) is not None:
                    return {**message, "bytes": data}
            return message

        websocket = scope["type"] == "websocket"
        await self.app(scope, receive_checked if websocket else receive, send)


def checked(data: bytes) -> bytes | None:
    """A message of a browser without the answers that no component gives; None: nothing is left."""
    message = BackMsg()
    try:
        message.ParseFromString(data if len(data) <= MAX_MESSAGE else b"")
    except DecodeError:
        return None
    states = message.rerun_script.widget_states.widgets
    if message.WhichOneof("type") is None or len(states) > MAX_WIDGETS:
        return None
    address = message.rerun_script.query_string
    message.rerun_script.query_string = legal_address(address)
    if not states and message.rerun_script.query_string == address:
        return data
    kept = [state for state in states if _kept(state)]
    del states[:]
    states.extend(kept)
    legal: bytes = message.SerializeToString()
    return legal


def legal_address(address: str) -> str:
    """The query of an address, cut to `MAX_NAMES`, without numbers that are infinite.

    On these `st.number_input(bind="query-params")` fails with an OverflowError, see
    docs/upstream.md; the test of links into open sessions passes without this once it does not.
    """
    parts = address.split("&", MAX_NAMES)[:MAX_NAMES]
    return "&".join(part for part in parts if not _is_infinite(part.partition("=")[2]))


def _is_infinite(text: str) -> bool:
    try:
        return math.isinf(float(unquote_plus(text)))
    except ValueError:
        return False


def _kept(state: WidgetState) -> bool:
    """Whether a widget may have this state; of the events of a component the last of each stay."""
    kind = state.WhichOneof("value")
    if kind != "json_trigger_value":
        # Components of ours keep nothing in the browser; it is their events that have such an id.
        key = state.id.split("-", 2)[-1]
        return not (kind == "json_value" or key in KEYS or key.endswith("__events"))
    try:
        events = json.loads(state.json_trigger_value[:MAX_ANSWERS])
    except (ValueError, RecursionError):
        return False
    last = {}
    for event in events if isinstance(events, list) else []:
        match event:
            case {"event": str(name), "value": value} if name in SHAPES and SHAPES[name](value):
                last[name] = {"event": name, "value": value}
    state.json_trigger_value = json.dumps([*last.values()])
    return bool(last)


def when(
    key: str, event: str, fits: Callable[[Any], bool], then: Callable[[Any], object]
) -> Callback:
    """A callback of the component of that key: `then` gets what came with an event, if it fits.

    It has one of the `SHAPES` by then, so that `fits` asks for bounds alone.
    """

    KEYS.add(key)

    def answered() -> None:
        answers = st.session_state.get(key)
        value = answers.get(event) if isinstance(answers, dict) else None
        if SHAPES[event](value) and fits(value):
            then(value)

    return answered
