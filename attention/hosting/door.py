"""Before the server: nobody takes it from the others, and who finds it full waits for a place."""

from __future__ import annotations

import asyncio
import json
import secrets
import sys
import time
from collections.abc import Callable
from pathlib import Path

from cachetools import LRUCache
from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from attention.core.limits import Limits
from attention.hosting import metrics
from attention.hosting.addresses import ADDRESSES, address_of
from attention.hosting.room import Room, Who
from attention.hosting.token_bucket import Pace

COOKIE = "attention_queue"
QUEUE = "/attention-queue"  # where the waiting room asks which place one has by now
BURST = 10  # seconds: what may come at once
MESSAGE = 1 << 16  # bytes; a longer message counts as several
NAME = 64  # characters of a visitor's name, which a browser may make as long as it likes
SILENT = 10.0  # seconds; a page sends its first message as soon as its websocket is open
# At this status nginx asks the next replica, and does not count it as a failure of this one, as it
# would 429 or 503: whose place is here is still led here.
FULL = 403
NOT_PAGES = ("/_stcore/", "/static/", "/component/", "/media/", "/metrics")
TOO_MANY = "Too many requests came from your address. Please wait a moment, then reload the page."


class Door:
    """Before the server: counts, paces, and shows the waiting room where all places are taken.

    here: whether a session is kept, so that a page may come back to it.
    """

    def __init__(self, app: ASGIApp, limits: Limits, here: Callable[[str], bool]) -> None:
        self.app, self.limits, self.here = app, limits, here
        self.room = Room(limits.sessions, max(1, limits.sessions * limits.address // 100))
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
        """True if more requests than allowed have come from its address."""
        rate, now = self.limits.requests, time.monotonic()
        pace = self.paces.setdefault(address_of(connection), Pace.full(rate, BURST * rate, now))
        if pace.spare(1, now):
            return False
        metrics.REFUSED.labels("requests").inc()
        return True

    def _refusal(self, request: Request) -> Response | None:
        """The answer to a request that goes no further."""
        if self._too_many(request):
            return PlainTextResponse(TOO_MANY, 429, {"Retry-After": "2"})
        if metrics.are_asked_for(request) and metrics.through_proxy(request):
            return PlainTextResponse("Not found", 404)
        asks = request.scope["path"].endswith(QUEUE)
        if not (asks or _is_for_page(request)):
            return None
        who = _who(request)
        named = who._replace(name=who.name or secrets.token_urlsafe(12))
        # Who has no name yet may be shown the page of another replica, and waits once it asks.
        place = self.room.ask(named, time.monotonic(), wait=bool(who.name))
        if asks:
            status = FULL if place else 200
            return JSONResponse({"place": place}, status, {"Cache-Control": "no-store"})
        if not place:
            return None
        crowded = self.room.is_crowded(who.address)
        return waiting_page(place, crowded, named.name, request.url.scheme == "https")

    async def _visit(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One tab, from its first message to its end."""
        connection = HTTPConnection(scope)
        who = _who(connection)
        if self._too_many(connection) or not self.room.admits(who, time.monotonic()):
            await receive()
            await _turn_away(send)
            return
        said: list[Message] = []
        if not self._comes_back(scope):
            said = await self._first_message(who.address, scope, receive, send)
            if not said:
                return
        if not self.room.connect(who, time.monotonic()):
            await _turn_away(send)
            return
        metrics.SESSIONS.inc()
        try:
            await self._stay(said, scope, receive, send)
        finally:
            metrics.SESSIONS.dec()
            self.room.leave(who, time.monotonic())

    def _comes_back(self, scope: Scope) -> bool:
        """True if a page goes on with its session: it says nothing until something is changed."""
        session = _protocols(scope)[2:3]
        return bool(session) and self.here(session[0])

    async def _stay(self, said: list[Message], scope: Scope, receive: Receive, send: Send) -> None:
        """A visitor who has a place, until they leave; said: what has come from them already."""
        begun, accepted = time.monotonic(), bool(said)
        rate = self.limits.messages
        pace, told = Pace.full(rate, BURST * rate, begun), {"changes": 0, "received": 0, "sent": 0}

        async def receive_paced() -> Message:
            message = said.pop(0) if said else await receive()
            if message["type"] == "websocket.receive":
                size = len(message.get("bytes") or message.get("text") or b"")
                told["changes"] += 1
                told["received"] += size
                await asyncio.sleep(pace.take(1 + size // MESSAGE, time.monotonic()))
            return message

        async def send_counted(message: Message) -> None:
            if accepted and message["type"] == "websocket.accept":
                return  # once is enough
            told["sent"] += len(message.get("bytes") or b"")
            await send(message)

        try:
            await self.app(scope, receive_paced, send_counted)
        finally:
            seconds = round(time.monotonic() - begun)
            line = {"visit": time.strftime("%FT%TZ", time.gmtime()), "seconds": seconds}
            print(json.dumps(line | told), file=sys.stderr, flush=True)

    async def _first_message(
        self, address: str, scope: Scope, receive: Receive, send: Send
    ) -> list[Message]:
        """Open a websocket: how it began and its first message, nothing where none comes in time.

        Only then the server is told of it: what says nothing takes no place, and costs no session.
        """
        protocol = next(iter(_protocols(scope)), None)
        with self.room.one_silent(address):
            begun = await receive()
            await send({"type": "websocket.accept", "subprotocol": protocol})
            try:
                message = await asyncio.wait_for(receive(), SILENT)
            except TimeoutError:
                metrics.REFUSED.labels("silent").inc()
                await send({"type": "websocket.close", "code": 1008, "reason": "silent"})
                return []
        return [begun, message] if message["type"] == "websocket.receive" else []


async def _turn_away(send: Send) -> None:
    """Close a websocket for which there is no place."""
    metrics.REFUSED.labels("sessions").inc()
    await send({"type": "websocket.close", "code": 1013, "reason": "full"})


def _protocols(scope: Scope) -> list[str]:
    """Subprotocols that a page sends: the protocol, a token, the session that it had."""
    return list(scope.get("subprotocols") or ())


def _is_for_page(request: Request) -> bool:
    """True if a browser opens a page, and not something that a page needs."""
    wants = "text/html" in request.headers.get("accept", "")
    return (
        wants
        and request.method == "GET"
        and not any(part in request.scope["path"] for part in NOT_PAGES)
    )


def _who(connection: HTTPConnection) -> Who:
    """Whoever asks; without a name until they had to wait."""
    return Who(address_of(connection), connection.cookies.get(COOKIE, "")[:NAME])


def waiting_page(place: int, crowded: bool, name: str, secure: bool) -> Response:
    """A page that says at which place of the queue one stands, and opens the app when it is time.

    crowded: whether others have all places of the visitor's address, see `Room.is_crowded`; name:
    that of the visitor, for the browser to keep until then.
    """
    nonce = secrets.token_urlsafe(12)
    page = (Path(__file__).parent / "waiting.html").read_text("utf-8")
    policy = f"default-src 'none'; connect-src 'self'; style-src 'nonce-{nonce}'"
    headers = {
        "Cache-Control": "no-store",
        "Content-Security-Policy": f"{policy}; script-src 'nonce-{nonce}'",
    }
    whose = " for your network" if crowded else ""
    for word, filled in {"place": str(place), "nonce": nonce, "whose": whose}.items():
        page = page.replace(f"{{{word}}}", filled)
    response = HTMLResponse(page, FULL, headers)
    response.set_cookie(
        COOKIE,
        name,
        max_age=3600,
        httponly=True,
        secure=secure,
        samesite="none" if secure else "lax",
    )
    return response
