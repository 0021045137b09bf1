"""Apps that are asked as a server asks them, without a server."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Coroutine
from typing import Any, NamedTuple


class Answer(NamedTuple):
    """Answer to a request."""

    status: int
    headers: dict[str, str]
    text: str


async def inner(scope: Any, receive: Any, send: Any) -> None:
    """An app that answers every request."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"the app"})


async def nothing() -> dict[str, Any]:
    """The body of a request that has none."""
    return {"type": "http.request", "body": b""}


async def ask(app: Any, path: str = "/", /, receive: Any = nothing, **more: Any) -> Answer:
    """The answer of an app. receive: gives the body; more: of the scope, and headers by name."""
    scope: dict[str, Any] = {
        **{"type": "http", "method": "GET", "path": path, "query_string": b"", "scheme": "http"},
        **{"server": ("app", 80), "client": ("10.0.0.1", 1)},
    }
    scope |= {name: more.pop(name) for name in ("type", "method", "query_string") if name in more}
    if "address" in more:
        scope["client"] = (more.pop("address"), 1)
    named = {name.replace("_", "-").encode(): str(value).encode() for name, value in more.items()}
    sent: list[dict[str, Any]] = []

    async def send(message: Any) -> None:
        sent.append(message)

    await app(scope | {"headers": [*named.items()]}, receive, send)
    headers = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    body = b"".join(message.get("body", b"") for message in sent)
    return Answer(sent[0]["status"], headers, body.decode("latin-1"))


def answer(app: Any, path: str = "/", /, **more: Any) -> Answer:
    """See `ask`, where nothing else goes on."""
    return asyncio.run(ask(app, path, **more))


def to_its_end(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Runs a test that waits for what it awaits."""

    @functools.wraps(test)
    def run(**given: Any) -> None:
        asyncio.run(test(**given))

    return run
