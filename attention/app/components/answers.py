"""Messages from a browser. All of them are looked at here before anything else is done.

Whoever speaks to the server by hand can send anything. `Gate` stands before Streamlit, which
would parse, compare and keep it; it takes out what no component of ours sends.
"""

from __future__ import annotations

import importlib
import json
import math
import pkgutil
from collections.abc import Set
from typing import Any
from urllib.parse import quote, unquote_plus

from google.protobuf.message import DecodeError
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState

from attention.app import components
from attention.app.components.turns import KEYS
from attention.figures.messages import KINDS, is_a

MAX_MESSAGE = 1 << 19  # bytes; every text box filled with the longest text takes less
MAX_WIDGETS = 256
MAX_NAMES = 500  # of an address with more than 1,000 Streamlit reads nothing, and leaves it
MAX_ANSWERS = 1 << 16  # bytes, of one component
MAX_EVENTS = 100  # of one component; the last of each kind counts
MAX_NUMBER = 1000  # letters in an address; a longer one is beyond any bound
INFINITY = quote("∞")

for module in pkgutil.iter_modules(components.__path__, f"{components.__name__}."):
    if module.name != __name__:
        importlib.import_module(module.name)  # so that all components are declared


class Gate:
    """Before the server: lets through of each message what Streamlit can handle, and soon."""

    def __init__(self, app: ASGIApp, whole: Set[str]) -> None:
        self.app, self.whole = app, whole

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def receive_checked() -> Message:
            while (message := await receive())["type"] == "websocket.receive":
                if (data := checked(message.get("bytes") or b"", self.whole)) is not None:
                    return {**message, "bytes": data}
            return message

        websocket = scope["type"] == "websocket"
        await self.app(scope, receive_checked if websocket else receive, send)


def checked(data: bytes, whole: Set[str] = frozenset()) -> bytes | None:
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
    message.rerun_script.query_string = legal_address(address, whole)
    if not states and message.rerun_script.query_string == address:
        return data
    kept = [state for state in states if _kept(state)]
    del states[:]
    states.extend(kept)
    legal: bytes = message.SerializeToString()
    return legal


def legal_address(address: str, whole: Set[str]) -> str:
    """The query of an address, cut to `MAX_NAMES`; an infinite whole number becomes none.

    whole: the names of settings that are whole numbers. On infinite ones
    `st.number_input(bind="query-params")` fails with an OverflowError, see docs/upstream.md; the
    test of links into open sessions passes without this once it does not.
    """
    parts = address.split("&", MAX_NAMES)[:MAX_NAMES]
    return "&".join(
        f"{part.partition('=')[0]}={INFINITY}" if _is_infinite(part, whole) else part
        for part in parts
    )


def _is_infinite(part: str, whole: Set[str]) -> bool:
    name, _, text = part.partition("=")
    if len(name) > MAX_NUMBER or unquote_plus(name) not in whole:
        return False
    try:
        return len(text) > MAX_NUMBER or math.isinf(float(unquote_plus(text)))
    except ValueError:
        return False


def _kept(state: WidgetState) -> bool:
    """True if a widget may have this state; of the events of a component the last of each stay."""
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
    for event in events[-MAX_EVENTS:] if isinstance(events, list) else []:
        match event:
            case {"event": str(name), "value": value} if is_a(value, _kind_of(name)):
                last[name] = {"event": name, "value": value}
    state.json_trigger_value = json.dumps([*last.values()])
    return bool(last)


def _kind_of(event: str) -> Any:
    """The type of what an event carries, None where there is no such; of a figure within a scene
    its key goes before the name of the event."""
    return KINDS.get(event.rpartition(".")[2])
