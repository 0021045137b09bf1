"""Before the server: nobody takes it from the others, and who finds it full waits for a place."""

from __future__ import annotations

import asyncio
import json
import secrets
import sys
import time
from pathlib import Path

from cachetools import LRUCache
from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from attention.core.limits import Limits
from attention.hosting import metrics
from attention.hosting.pace import Pace
from attention.hosting.room import Room

COOKIE = "attention_queue"
QUEUE = "/attention-queue"  # where the waiting room asks which place one has by now
BURST = 10  # seconds: what may come at once
MESSAGE = 1 << 16  # bytes; a longer message counts as several
ADDRESSES = 10_000
NOT_PAGES = ("/_stcore/", "/static/", "/component/", "/media/", "/metrics")
TOO_MANY = "Too many requests came from your address. Please wait a moment, then reload the page."


class Door:
    """Before the server: counts, paces, and shows the waiting room where all places are taken."""

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self.app, self.limits = app, limits
        self.room = Room(limits.sessions)
        self.paces: LRUCache[str, Pace] = LRUCache(ADDRESSES)
        metrics.WAITING.set_function(lambda: len(self.room.waiting))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            answer = self._refusal(Request(scope)) or self.app
            await answer(scope, receive, send)
        elif scope["type"] == "websocket":
            await self._visit(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    def _too_many(self, connection: HTTPConnection) -> bool:
        """Whether more requests than allowed have come from its address."""
        rate, now = self.limits.requests, time.monotonic()
        pace = self.paces.setdefault(_address(connection), Pace.full(rate, BURST * rate, now))
        if pace.spare(1, now):
            return False
        metrics.REFUSED.labels("requests").inc()
        return True

    def _refusal(self, request: Request) -> Response | None:
        """The answer to a request that goes no further."""
        if self._too_many(request):
            return PlainTextResponse(TOO_MANY, 429, {"Retry-After": "2"})
        asks = request.url.path.endswith(QUEUE)
        if not (asks or _is_for_page(request)):
            return None
        name = request.cookies.get(COOKIE) or secrets.token_urlsafe(12)
        place = self.room.ask(name, time.monotonic())
        if asks:
            return JSONResponse({"place": place}, headers={"Cache-Control": "no-store"})
        return waiting_page(place, name, request.url.scheme == "https") if place else None

    async def _visit(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One tab, from its connection to its end."""
        connection = HTTPConnection(scope)
        name = connection.cookies.get(COOKIE) or _address(connection)
        begun = time.monotonic()
        if self._too_many(connection) or not self.room.connect(name, begun):
            metrics.REFUSED.labels("sessions").inc()
            await receive()
            await send({"type": "websocket.close", "code": 1013, "reason": "full"})
            return
        rate = self.limits.messages
        pace, told = Pace.full(rate, BURST * rate, begun), {"changes": 0, "received": 0, "sent": 0}

        async def receive_paced() -> Message:
            message = await receive()
            if message["type"] == "websocket.receive":
                size = len(message.get("bytes") or message.get("text") or b"")
                told["changes"] += 1
                told["received"] += size
                await asyncio.sleep(pace.take(1 + size // MESSAGE, time.monotonic()))
            return message

        async def send_counted(message: Message) -> None:
            told["sent"] += len(message.get("bytes") or b"")
            await send(message)

        metrics.SESSIONS.inc()
        try:
            await self.app(scope, receive_paced, send_counted)
        finally:
            now = time.monotonic()
            metrics.SESSIONS.dec()
            self.room.leave(name, now)
            line = {"visit": time.strftime("%FT%TZ", time.gmtime()), "seconds": round(now - begun)}
            print(json.dumps(line | told), file=sys.stderr, flush=True)


def _is_for_page(request: Request) -> bool:
    """Whether a browser opens a page, and not something that a page needs."""
    wants = "text/html" in request.headers.get("accept", "")
    return (
        wants
        and request.method == "GET"
        and not any(part in request.url.path for part in NOT_PAGES)
    )


def _address(connection: HTTPConnection) -> str:
    return connection.client.host if connection.client else ""


def waiting_page(place: int, name: str, secure: bool) -> Response:
    """A page that says at which place of the queue one stands, and opens the app when it is time.

    name: that of the visitor, for the browser to keep until then.
    """
    nonce = secrets.token_urlsafe(12)
    page = (Path(__file__).parent / "waiting.html").read_text("utf-8")
    policy = f"default-src 'none'; connect-src 'self'; style-src 'nonce-{nonce}'"
    headers = {
        "Cache-Control": "no-store",
        "Content-Security-Policy": f"{policy}; script-src 'nonce-{nonce}'",
    }
    filled = page.replace("{place}", str(place)).replace("{nonce}", nonce)
    response = HTMLResponse(filled, headers=headers)
    response.set_cookie(
        COOKIE,
        name,
        max_age=3600,
        httponly=True,
        secure=secure,
        samesite="none" if secure else "lax",
    )
    return response
