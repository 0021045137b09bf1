"""Messages that wait for browsers to read them: so many bytes, then the browser is cut off."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from attention.hosting import metrics
from attention.hosting.addresses import address_of

OF_ONE = 24 << 20  # bytes; Streamlit sends no message over 16 MB, the heaviest link brings 6
TOGETHER = 128 << 20  # bytes
BEHIND = 1 << 20  # bytes; where more waits, nothing new is taken from the browser
LAGS = 60.0  # seconds that one message may take, as an answer to a ping may


class Waiting:
    """The messages that wait for one websocket, in their order.

    address: of the browser; send: of the server; nbytes: of all of them, the one being sent too.
    uvicorn's takes a message of any size once its buffer is nearly empty, and closes a connection
    once all of that is read, which may be never: so its connection is asked, and aborted.
    """

    def __init__(self, address: str, send: Send) -> None:
        self.address, self.nbytes, self.over = address, 0, False
        self.messages: asyncio.Queue[Message] = asyncio.Queue()
        self.keeps_up = asyncio.Event()
        self.keeps_up.set()
        self.send = send
        self._connection = getattr(send, "__self__", None)

    async def is_taken(self) -> None:
        """Returns once the system has taken all that was sent."""
        if writable := getattr(self._connection, "writable", None):
            await writable.wait()

    def abort(self) -> None:
        """End the connection at once; its websocket is then told to be disconnected."""
        transport: Any = getattr(self._connection, "transport", None)
        if transport is not None:
            transport.abort()


class Unread:
    """Before the server: counts what waits for each websocket, and cuts off those who lag.

    of_one: the most bytes that may wait for one of them; together: those for all of them. For an
    address there may wait as much as it leaves free, so that it never takes all; beyond that the
    websocket for which most waits is cut off. A browser that reads slowly is heard less often.
    """

    def __init__(self, app: ASGIApp, of_one: int = OF_ONE, together: int = TOGETHER) -> None:
        self.app, self.of_one, self.together = app, of_one, together
        self.open: set[Waiting] = set()
        self.nbytes: Counter[str] = Counter()  # by address

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "websocket":
            await self.app(scope, receive, send)
            return
        waiting = Waiting(address_of(HTTPConnection(scope)), send)
        self.open.add(waiting)

        async def receive_from_who_keeps_up() -> Message:
            await waiting.keeps_up.wait()
            return await receive()

        async def send_later(message: Message) -> None:
            if waiting.over:
                raise OSError("the websocket is closed")  # Starlette takes it for a disconnection
            self._add(waiting, message)
            if message["type"] == "websocket.send":
                await asyncio.sleep(0)  # so that many in a row do not wait for who reads them
                return
            await waiting.messages.join()
            waiting.over |= message["type"] == "websocket.close"

        sending = asyncio.create_task(self._pass_on(waiting))
        try:
            await self.app(scope, receive_from_who_keeps_up, send_later)
        finally:
            sending.cancel()
            if waiting.nbytes:
                self._end(waiting)
            self.open.remove(waiting)

    async def _pass_on(self, waiting: Waiting) -> None:
        """Send what waits, one after the other."""
        while True:
            message = await waiting.messages.get()
            size = _size(message)
            try:
                async with asyncio.timeout(LAGS):
                    await waiting.send(message)
                    del message  # the server has a copy
                    await waiting.is_taken()
            except TimeoutError:
                self._cut(waiting)
            except (OSError, RuntimeError):  # it is closed already, or about to be
                self._end(waiting)
            if not waiting.over:
                self._count(waiting, -size)
            waiting.messages.task_done()

    def _add(self, waiting: Waiting, message: Message) -> None:
        waiting.messages.put_nowait(message)
        self._count(waiting, _size(message))
        if waiting.nbytes > self.of_one:
            self._cut(waiting)
        while self.nbytes[waiting.address] > self.together - self.nbytes.total():
            there = [each for each in self.open if each.address == waiting.address]
            self._cut(max(there, key=lambda each: each.nbytes))

    def _cut(self, waiting: Waiting) -> None:
        metrics.REFUSED.labels("unread").inc()
        self._end(waiting)

    def _end(self, waiting: Waiting) -> None:
        """Let go of a websocket and of all that waits for it."""
        waiting.over = True
        while not waiting.messages.empty():
            waiting.messages.get_nowait()
            waiting.messages.task_done()
        self._count(waiting, -waiting.nbytes)
        waiting.abort()

    def _count(self, waiting: Waiting, nbytes: int) -> None:
        waiting.nbytes += nbytes
        self.nbytes[waiting.address] += nbytes
        if not self.nbytes[waiting.address]:
            del self.nbytes[waiting.address]
        (waiting.keeps_up.clear if waiting.nbytes > BEHIND else waiting.keeps_up.set)()


def _size(message: Message) -> int:
    return len(message.get("bytes") or message.get("text") or b"")
