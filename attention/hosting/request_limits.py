"""Limits of a request's path and headers, held before anybody reads them: reading costs."""

from __future__ import annotations

import asyncio

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from attention.hosting import metrics

MAX_HEADERS = 100
MAX_HEADER = 1 << 13  # bytes of one; what other servers take at most, too
MAX_PATH = 1 << 11  # letters; a page's is short, the name of a file of a visit takes a hundred
PAUSE = 1.0  # seconds until a request is refused
TOO_LONG = (
    f"The request is too long. Its path may have {MAX_PATH:,} letters, and it may have "
    f"{MAX_HEADERS} headers of {MAX_HEADER:,} bytes: cookies of other pages at this address may "
    "take these, please delete them."
)


class RequestLimits:
    """Middleware: refuses a request that is too long, and passes on no cookie with escapes.

    What is read of a request, whose it is and what it asks for, is read on the event loop, where
    everybody waits for it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket"):
            scope = without_escapes(scope)
            if too_long(scope):
                await _refuse(scope, receive, send)
                return
        await self.app(scope, receive, send)


async def _refuse(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer after a while, so that nobody can send the next one at once."""
    await asyncio.sleep(PAUSE)
    metrics.REFUSED.labels("length").inc()
    if scope["type"] == "http":
        await PlainTextResponse(TOO_LONG, 431)(scope, receive, send)
    else:
        await receive()
        await send({"type": "websocket.close", "code": 1009, "reason": "too long"})


def too_long(scope: Scope) -> bool:
    """True if a request has a longer path, or more or longer headers, than anybody needs."""
    headers = scope["headers"]
    return (
        len(scope["path"]) > MAX_PATH
        or len(headers) > MAX_HEADERS
        or any(len(value) > MAX_HEADER for _, value in headers)
    )


def without_escapes(scope: Scope) -> Scope:
    """A request without its cookies that hold a backslash; none of ours does.

    Python before 3.11.10 reads a quoted one in quadratic time: 60 kB took 3.6 s (CVE-2024-7592).
    """
    if not any(name == b"cookie" and b"\\" in value for name, value in scope["headers"]):
        return scope
    kept = [
        (name, b";".join(each for each in value.split(b";") if b"\\" not in each))
        if name == b"cookie"
        else (name, value)
        for name, value in scope["headers"]
    ]
    return {**scope, "headers": kept}
