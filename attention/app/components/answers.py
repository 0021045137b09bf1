"""Messages from a browser. All of them are looked at here before anything else is done.

Whoever speaks to the server by hand can send anything. `only_of_pages` stands before Streamlit,
which would parse, compare, keep and obey it; it takes out what no page of ours sends.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import pkgutil
import time
from collections.abc import Callable, MutableSequence
from typing import Any

from google.protobuf.message import DecodeError
from google.protobuf.message import Message as ProtobufMessage
from starlette.types import Message, Receive, Send
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState

from attention.app import components
from attention.app.components.turns import KEYS
from attention.figures.messages import KINDS, is_a
from attention.hosting import metrics
from attention.hosting.token_bucket import BURST_SECONDS, TokenBucket

MAX_MESSAGE = 1 << 19  # bytes; every text box filled with the longest text takes less
MAX_WIDGETS = 256
MAX_FILES = 16  # of one upload; our pages take one
MAX_PARTS = 4000  # of a message: fields and what they repeat
MAX_ID = 256  # letters of what names a page, or a part of one
MESSAGE_BYTES = 1 << 16  # a longer message counts as several
MAX_RATE = 2.0  # a second, of all but reruns
MAX_DROPPED = 3  # messages, after which a websocket is closed
MAX_NAMES = 500  # of an address with more than 1,000 Streamlit reads nothing, and leaves it
MAX_ANSWERS = 1 << 16  # bytes, of one component
MAX_EVENTS = 100  # of one component; the last of each kind counts

for module in pkgutil.iter_modules(components.__path__, f"{components.__name__}."):
    if module.name != __name__:
        importlib.import_module(module.name)  # so that all components are declared


def only_of_pages(receive: Receive, send: Send, rate: float) -> tuple[Receive, Send]:
    """Receives of each message what Streamlit can handle; closed where others are repeated.

    rate: reruns a second that may come for long, all else at `MAX_RATE` within it; what comes
    faster waits.
    """
    dropped, bucket = 0, TokenBucket.full(rate, BURST_SECONDS * rate, time.monotonic())

    async def receive_checked() -> Message:
        nonlocal dropped
        while (message := await receive())["type"] == "websocket.receive":
            raw = message.get("bytes") or b""
            kind, data = checked(raw)
            tokens = 1 + len(raw) // MESSAGE_BYTES
            weight = 1.0 if kind == "rerun_script" else max(1.0, rate / MAX_RATE)
            await asyncio.sleep(bucket.take(tokens * weight, time.monotonic()))
            if data is not None:
                return {**message, "bytes": data}
            metrics.DROPPED.labels(kind).inc()
            dropped += 1
            if dropped > MAX_DROPPED:
                await send({"type": "websocket.close", "code": 1008, "reason": "dropped"})
                return {"type": "websocket.disconnect", "code": 1008}
        return message

    return receive_checked, send


def checked(data: bytes) -> tuple[str, bytes | None]:
    """The kind of a message, "none" where it has none, and what of it may pass; None: nothing."""
    message = BackMsg()
    try:
        message.ParseFromString(data if len(data) <= MAX_MESSAGE else b"")
    except DecodeError:
        return "none", None
    kind = message.WhichOneof("type") or "none"
    if kind not in BOUNDS or not BOUNDS[kind](message) or not _is_short(message):
        return kind, None
    if kind != "rerun_script":
        return kind, data
    states, address = message.rerun_script.widget_states.widgets, message.rerun_script.query_string
    message.rerun_script.query_string = "&".join(address.split("&", MAX_NAMES)[:MAX_NAMES])
    if not states and message.rerun_script.query_string == address:
        return kind, data
    kept = [state for state in states if _kept(state)]
    del states[:]
    states.extend(kept)
    return kind, message.SerializeToString()


def _is_of_a_page(message: BackMsg) -> bool:
    run = message.rerun_script
    names = run.page_script_hash, run.page_name, run.fragment_id
    return len(run.widget_states.widgets) <= MAX_WIDGETS and max(map(len, names)) <= MAX_ID


def _names_few_files(message: BackMsg) -> bool:
    return len(message.file_urls_request.file_names) <= MAX_FILES


def _asks_for_a_file(message: BackMsg) -> bool:
    return message.backend_operation_request.WhichOneof("payload") == "deferred_file"


def _always(message: BackMsg) -> bool:
    return True


# The kinds of message that a page of ours sends, each with its bound. No other reaches Streamlit,
# which would empty caches of everybody, call git or write files for it.
BOUNDS: dict[str, Callable[[BackMsg], bool]] = {
    "rerun_script": _is_of_a_page,
    "stop_script": _always,  # by a button that Streamlit shows while a page runs
    "app_heartbeat": _always,  # of a host that embeds the app
    "file_urls_request": _names_few_files,  # before files are uploaded
    "backend_operation_request": _asks_for_a_file,  # which is made once it is downloaded
}


def _is_short(message: ProtobufMessage) -> bool:
    """True if a message has no more parts, at all depths together, than one of a page."""
    left, unread = MAX_PARTS, [message]
    while unread:
        for declared, value in unread.pop().ListFields():
            parts = value if isinstance(value, MutableSequence) else [value]
            left -= len(parts)
            if left < 0:
                return False
            if declared.message_type:
                unread.extend(parts)
    return True


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
