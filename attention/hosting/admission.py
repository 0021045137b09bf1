"""Admission control: so many requests of an address, so many sessions; the others wait."""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
import sys
import time
from collections.abc import AsyncIterator, Callable

from cachetools import LRUCache
from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from attention.core.limits import Limits
from attention.hosting import metrics
from attention.hosting.addresses import ADDRESSES, address_of, networks
from attention.hosting.admission_queue import AdmissionQueue, Visitor
from attention.hosting.token_bucket import BURST_SECONDS, TokenBucket
from attention.hosting.waiting_page import COOKIE, FULL, waiting_page

QUEUE_PATH = "/attention-queue"  # where the waiting page asks for its position
MAX_END = 256  # bytes of a message that ends a page
MAX_NAME = 64  # characters of a visitor's name, which a browser may make as long as it likes
FIRST_PAGES = 2  # at once, of those who come in, each
FIRST_PAGE_SECONDS = 1.0  # or, of one that takes longer, for so long
FIRST_MESSAGE_SECONDS = 10.0  # a page sends one as soon as its websocket is open
NOT_PAGES = ("/_stcore/", "/static/", "/component/", "/media/", "/metrics")
TOO_MANY = "Too many requests came from your address. Please wait a moment, then reload the page."


class Admission:
    """Middleware: limits requests and sessions, and answers with the waiting page where it is full.

    is_kept: whether a session is kept, so that a page may come back to it; ends_page: whether a
    message is the last of a page.
    """

    def __init__(
        self,
        app: ASGIApp,
        limits: Limits,
        is_kept: Callable[[str], bool],
        ends_page: Callable[[bytes], bool] = bool,
    ) -> None:
        self.app, self.limits, self.is_kept, self.ends_page = app, limits, is_kept, ends_page
        self.first_pages = asyncio.Semaphore(FIRST_PAGES)
        per_address = max(1, limits.sessions * limits.address // 100)
        self.queue = AdmissionQueue(limits.sessions, per_address)
        self.buckets: LRUCache[str, TokenBucket] = LRUCache(ADDRESSES)
        self.turns: LRUCache[str, asyncio.Lock] = LRUCache(ADDRESSES)
        metrics.WAITING.set_function(lambda: len(self.queue.waiting))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._turn(scope)
            answer = self._refusal(Request(scope)) or self.app
            await answer(scope, receive, send)
        elif scope["type"] == "websocket":
            await self._visit(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    async def _turn(self, scope: Scope) -> None:
        """Let one request of a network go on in each turn of the loop, and others between."""
        *_, network = networks(address_of(HTTPConnection(scope)))
        async with self.turns.setdefault(network.name, asyncio.Lock()):
            await asyncio.sleep(0)

    def _too_many(self, connection: HTTPConnection) -> bool:
        """True if more requests than allowed have come from its address, or a network of it."""
        now = time.monotonic()
        for network in networks(address_of(connection)):
            rate = self.limits.requests * network.times
            full = TokenBucket.full(rate, BURST_SECONDS * rate, now)
            if not self.buckets.setdefault(network.name, full).try_take(now):
                break
        else:
            return False
        metrics.REFUSED.labels("requests").inc()
        return True

    def _refusal(self, request: Request) -> Response | None:
        """The answer to a request that goes no further."""
        if self._too_many(request):
            return PlainTextResponse(TOO_MANY, 429, {"Retry-After": "2"})
        if metrics.are_asked_for(request) and not metrics.may_be_read_by(request):
            return PlainTextResponse("Not found", 404)
        is_queue = request.scope["path"].endswith(QUEUE_PATH)
        if not (is_queue or _is_for_page(request)):
            return None
        visitor = _visitor(request)
        named = visitor._replace(name=visitor.name or secrets.token_urlsafe(12))
        # Visitor has no name yet may be shown the page of another replica, and waits once it asks.
        position = self.queue.position(named, time.monotonic(), wait=bool(visitor.name))
        if is_queue:
            status = FULL if position else 200
            return JSONResponse({"place": position}, status, {"Cache-Control": "no-store"})
        if not position:
            return None
        crowded = self.queue.is_crowded(visitor.address)
        return waiting_page(position, crowded, named.name, request.url.scheme == "https")

    async def _visit(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One tab, from its first message to its end."""
        connection = HTTPConnection(scope)
        visitor = _visitor(connection)
        if self._too_many(connection) or not self.queue.admits(visitor, time.monotonic()):
            await receive()
            await _refuse(send)
            return
        came: list[Message] = []
        if not self._resumes(scope):
            came = await self._first_message(visitor.address, scope, receive, send)
            if not came:
                return
        if not self.queue.connect(visitor, time.monotonic()):
            await _refuse(send)
            return
        metrics.SESSIONS.inc()
        try:
            async with self._first_page() if came else contextlib.nullcontext(bool) as page_ended:
                await self._serve(came, page_ended, scope, receive, send)
        finally:
            metrics.SESSIONS.dec()
            self.queue.leave(visitor, time.monotonic())

    @contextlib.asynccontextmanager
    async def _first_page(self) -> AsyncIterator[Callable[[], object]]:
        """Come in, in order of arrival, once few others do; gives what ends that.

        More of them at once fill the event loop, and everybody who is inside waits for it.
        """
        self.queue.entering += 1
        with contextlib.ExitStack() as under_way:
            under_way.callback(self.queue.has_entered)
            await self.first_pages.acquire()
            under_way.callback(self.first_pages.release)
            asyncio.get_running_loop().call_later(FIRST_PAGE_SECONDS, under_way.close)
            yield under_way.close

    def _resumes(self, scope: Scope) -> bool:
        """True if a page goes on with its session: it says nothing until something is changed."""
        session = _protocols(scope)[2:3]
        return bool(session) and self.is_kept(session[0])

    async def _serve(
        self,
        came: list[Message],
        page_ended: Callable[[], object],
        scope: Scope,
        receive: Receive,
        send: Send,
    ) -> None:
        """A visitor who has a place, until they leave; came: the messages from them so far."""
        begun, accepted = time.monotonic(), bool(came)
        counts = {"changes": 0, "received": 0, "sent": 0}

        async def receive_counted() -> Message:
            message = came.pop(0) if came else await receive()
            if message["type"] == "websocket.receive":
                counts["changes"] += 1
                counts["received"] += len(message.get("bytes") or message.get("text") or b"")
            return message

        async def send_counted(message: Message) -> None:
            if accepted and message["type"] == "websocket.accept":
                return  # once is enough
            data = message.get("bytes") or b""
            counts["sent"] += len(data)
            await send(message)
            if len(data) < MAX_END and self.ends_page(data):
                page_ended()

        try:
            await self.app(scope, receive_counted, send_counted)
        finally:
            seconds = round(time.monotonic() - begun)
            line = {"visit": time.strftime("%FT%TZ", time.gmtime()), "seconds": seconds}
            print(json.dumps(line | counts), file=sys.stderr, flush=True)

    async def _first_message(
        self, address: str, scope: Scope, receive: Receive, send: Send
    ) -> list[Message]:
        """Open a websocket: how it began and its first message, nothing where none comes in time.

        Only then the server is told of it: what says nothing takes no place, and costs no session.
        """
        protocol = next(iter(_protocols(scope)), None)
        with self.queue.opening_connection(address):
            begun = await receive()
            await send({"type": "websocket.accept", "subprotocol": protocol})
            try:
                message = await asyncio.wait_for(receive(), FIRST_MESSAGE_SECONDS)
            except TimeoutError:
                metrics.REFUSED.labels("silent").inc()
                await send({"type": "websocket.close", "code": 1008, "reason": "silent"})
                return []
        return [begun, message] if message["type"] == "websocket.receive" else []


async def _refuse(send: Send) -> None:
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


def _visitor(connection: HTTPConnection) -> Visitor:
    """The visitor who asks; without a name until they had to wait."""
    return Visitor(address_of(connection), connection.cookies.get(COOKIE, "")[:MAX_NAME])
