"""Messages that wait for browsers to read them: so many bytes, then the browser is cut off."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from attention.hosting import metrics
from attention.hosting.addresses import Network, address_of, networks

PER_CONNECTION = 24 << 20  # bytes; no message is over 16 MB, the heaviest link brings 6
TOTAL = 128 << 20  # bytes
HIGH_WATER = 1 << 20  # bytes; where more waits, nothing new is taken from the browser
SEND_TIMEOUT = 60.0  # seconds that one message may take, as an answer to a ping may


class SendQueue:
    """The messages that wait for one websocket, in their order.

    address: of the browser; send: of the server; nbytes: of all of them, the one being sent too.
    uvicorn's takes a message of any size once its buffer is nearly empty, and closes a connection
    once all of that is read, which may be never: so its connection is asked, and aborted.
    """

    def __init__(self, address: str, send: Send) -> None:
        self.address, self.nbytes, self.closed = address, 0, False
        self.messages: asyncio.Queue[Message] = asyncio.Queue()
        self.has_room = asyncio.Event()
        self.has_room.set()
        self.send = send
        self._connection = getattr(send, "__self__", None)

    async def drain(self) -> None:
        """Returns once the system has taken all that was sent."""
        if writable := getattr(self._connection, "writable", None):
            await writable.wait()

    def abort(self) -> None:
        """End the connection at once; its websocket is then told to be disconnected."""
        transport: Any = getattr(self._connection, "transport", None)
        if transport is not None:
            transport.abort()


class Backpressure:
    """Middleware: counts what waits for each websocket, and cuts off those who lag.

    per_connection: the most bytes that may wait for one of them; total: those for all of them. For
    an address there may wait as much as it leaves free, so that it never takes all, and for a
    network by its share; beyond that the
    websocket for which most waits is cut off. From a browser that reads slowly less is received.
    """

    def __init__(
        self, app: ASGIApp, per_connection: int = PER_CONNECTION, total: int = TOTAL
    ) -> None:
        self.app, self.per_connection, self.total = app, per_connection, total
        self.queues: set[SendQueue] = set()
        self.waiting, self.nbytes = 0, Counter[Network]()  # bytes, of all and by network

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "websocket":
            await self.app(scope, receive, send)
            return
        queue = SendQueue(address_of(HTTPConnection(scope)), send)
        self.queues.add(queue)

        async def receive_if_drained() -> Message:
            await queue.has_room.wait()
            return await receive()

        async def send_later(message: Message) -> None:
            if queue.closed:
                raise OSError("the websocket is closed")  # Starlette takes it for a disconnection
            self._add(queue, message)
            if message["type"] == "websocket.send":
                await asyncio.sleep(0)  # so that many in a row do not wait for who reads them
                return
            await queue.messages.join()
            queue.closed |= message["type"] == "websocket.close"

        sending = asyncio.create_task(self._pass_on(queue))
        try:
            await self.app(scope, receive_if_drained, send_later)
        finally:
            sending.cancel()
            if queue.nbytes:
                self._end(queue)
            self.queues.remove(queue)

    async def _pass_on(self, queue: SendQueue) -> None:
        """Send what waits, one after the other."""
        while True:
            message = await queue.messages.get()
            size = _size(message)
            try:
                async with asyncio.timeout(SEND_TIMEOUT):
                    await queue.send(message)
                    del message  # the server has a copy
                    await queue.drain()
            except TimeoutError:
                self._cut(queue)
            except (OSError, RuntimeError):  # it is closed already, or about to be
                self._end(queue)
            if not queue.closed:
                self._count(queue, -size)
            queue.messages.task_done()

    def _add(self, queue: SendQueue, message: Message) -> None:
        queue.messages.put_nowait(message)
        self._count(queue, _size(message))
        if queue.nbytes > self.per_connection:
            self._cut(queue)
        for network in networks(queue.address):
            while self.nbytes[network] > (self.total - self.waiting) * network.of_free:
                same = [each for each in self.queues if network in networks(each.address)]
                self._cut(max(same, key=lambda each: each.nbytes))

    def _cut(self, queue: SendQueue) -> None:
        metrics.REFUSED.labels("unread").inc()
        self._end(queue)

    def _end(self, queue: SendQueue) -> None:
        """Let go of a websocket and of all that waits for it."""
        queue.closed = True
        while not queue.messages.empty():
            queue.messages.get_nowait()
            queue.messages.task_done()
        self._count(queue, -queue.nbytes)
        queue.abort()

    def _count(self, queue: SendQueue, nbytes: int) -> None:
        queue.nbytes += nbytes
        self.waiting += nbytes
        for network in networks(queue.address):
            self.nbytes[network] += nbytes
            if not self.nbytes[network]:
                del self.nbytes[network]
        (queue.has_room.clear if queue.nbytes > HIGH_WATER else queue.has_room.set)()


def _size(message: Message) -> int:
    return len(message.get("bytes") or message.get("text") or b"")
