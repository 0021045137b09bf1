"""A deadline for the head of a request: uvicorn would wait for the rest of it for ever."""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
from typing import Any

SECONDS = 10.0
# uvicorn's protocols of HTTP, by the package that each needs.
PROTOCOLS = {"h11": "h11_impl.H11Protocol", "httptools": "httptools_impl.HttpToolsProtocol"}


def close_silent_connections() -> None:
    """Have uvicorn close a connection on which no request is answered and none has come in time."""
    for package, path in PROTOCOLS.items():
        if importlib.util.find_spec(package):
            module, _, name = path.partition(".")
            protocol = getattr(importlib.import_module(f"uvicorn.protocols.http.{module}"), name)
            for event in ("connection_made", "data_received"):
                _watch_after(protocol, event)


def _watch_after(protocol: Any, event: str) -> None:
    """Watch a connection after an event of its protocol, once for each."""
    known = getattr(protocol, event)
    if getattr(known, "is_watched", False):
        return

    def watched(self: Any, given: Any) -> None:
        known(self, given)
        _watch(self)

    watched.is_watched = True  # type: ignore[attr-defined]
    setattr(protocol, event, watched)


def _watch(connection: Any) -> None:
    timer = vars(connection).get("head_timer")
    if _is_answering(connection):
        if timer:
            timer.cancel()
        connection.head_timer = None
    elif not timer:
        later = asyncio.get_running_loop().call_later
        connection.head_timer = later(SECONDS, _close_unless_answering, connection)


def _is_answering(connection: Any) -> bool:
    """True if a request has come whole, but for its body, and is not answered yet."""
    return connection.cycle is not None and not connection.cycle.response_complete


def _close_unless_answering(connection: Any) -> None:
    """Close a connection that is still one of HTTP, and no websocket by now."""
    connection.head_timer = None
    of_http = connection.transport.get_protocol() is connection
    if of_http and not _is_answering(connection):
        connection.transport.close()
