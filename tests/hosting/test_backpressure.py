"""Bytes that wait for browsers that do not read."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Any

import pytest

from attention.hosting import backpressure
from attention.hosting.backpressure import Backpressure
from tests.hosting.asking import to_its_end


class Browser:
    """A browser at the end of a connection, which is like uvicorn's, and the app it talks to.

    It takes one message; the next one is taken once it reads, which it does while `reads` is set.
    """

    def __init__(self, server: Backpressure, address: str = "10.0.0.1") -> None:
        self.server, self.address = server, address
        self.writable, self.gone, self.begun = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self.writable.set()
        self.transport, self.got = self, list[bytes]()
        self.said: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.heard: list[dict[str, Any]] = []
        self.reads = False

    async def take(self, message: dict[str, Any]) -> None:
        await self.writable.wait()
        if self.gone.is_set():
            raise OSError
        self.got.append(message.get("bytes") or b"")
        if not self.reads:
            self.writable.clear()

    def read(self) -> None:
        self.reads = True
        self.writable.set()

    def abort(self) -> None:
        self.gone.set()
        self.writable.set()
        self.said.put_nowait({"type": "websocket.disconnect"})

    async def app(self, scope: Any, receive: Any, send: Any) -> None:
        self.receive, self.send = receive, send
        self.begun.set()
        while (message := await receive())["type"] != "websocket.disconnect":
            self.heard.append(message)

    async def __aenter__(self) -> Browser:
        self.server.app = self.app
        scope = {"type": "websocket", "client": (self.address, 7), "headers": []}
        self.visit = asyncio.create_task(self.server(scope, self.said.get, self.take))
        await self.begun.wait()
        return self

    async def __aexit__(self, *_: object) -> None:
        self.abort()
        await self.visit

    async def sent(self, *sizes: int) -> None:
        """The app sends messages of so many bytes."""
        for size in sizes:
            await self.send({"type": "websocket.send", "bytes": b"x" * size})


async def settled(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not true():
            await asyncio.sleep(0)


@to_its_end
async def test_what_a_browser_has_not_read_is_counted_and_comes_once_it_reads():
    server = Backpressure(None, per_connection=100)
    async with Browser(server) as browser:
        await browser.sent(3, 5, 7)
        await settled(lambda: len(browser.got) == 1)
        assert server.waiting == 15, "the one on its way too"
        browser.read()
        await settled(lambda: not server.waiting)
        assert [*map(len, browser.got)] == [3, 5, 7]


@to_its_end
async def test_who_lags_by_more_than_one_may_is_cut_off_and_nothing_waits_any_more():
    server = Backpressure(None, per_connection=100)
    async with Browser(server) as lagging, Browser(server) as reading:
        reading.read()
        await lagging.sent(50, 50)
        assert not lagging.gone.is_set()
        await lagging.sent(1)
        assert lagging.gone.is_set()
        assert not server.waiting
        await lagging.visit
        with pytest.raises(OSError, match="closed"):
            await lagging.sent(1)
        await reading.sent(*[60] * 7)
        await settled(lambda: len(reading.got) == 7)


@to_its_end
async def test_an_address_has_as_much_as_it_leaves_free_and_its_longest_queue_goes_first():
    server = Backpressure(None, per_connection=100, total=200)
    async with AsyncExitStack() as there:
        browsers = [await there.enter_async_context(Browser(server)) for _ in range(3)]
        other = await there.enter_async_context(Browser(server, "10.0.0.2"))
        for browser, size in zip(browsers, (30, 50, 20), strict=True):
            await browser.sent(size)
        assert server.waiting == 100
        await browsers[2].sent(1)
        assert [browser.gone.is_set() for browser in browsers] == [False, True, False]
        await other.sent(74)
        assert [*server.nbytes.values()] == [51, 74]
        await other.sent(1)
        assert other.gone.is_set()
        assert [*server.nbytes.values()] == [51]


@to_its_end
async def test_of_a_browser_that_is_behind_nothing_new_is_taken(monkeypatch):
    monkeypatch.setattr(backpressure, "HIGH_WATER", 10)
    async with Browser(Backpressure(None)) as browser:
        browser.said.put_nowait({"type": "websocket.receive", "bytes": b"first"})
        await settled(lambda: len(browser.heard) == 1)
        await browser.sent(11)
        for number in range(2):  # the app waits for one already
            browser.said.put_nowait({"type": "websocket.receive", "bytes": b"%d" % number})
        await settled(lambda: len(browser.heard) == 2)
        for _ in range(20):
            await asyncio.sleep(0)
        assert (len(browser.heard), browser.said.qsize()) == (2, 1)
        browser.read()
        await settled(lambda: len(browser.heard) == 3)


@to_its_end
async def test_a_message_that_is_not_taken_in_time_is_the_last(monkeypatch):
    monkeypatch.setattr(backpressure, "SEND_TIMEOUT", 0.0)
    server = Backpressure(None)
    async with Browser(server) as browser:
        await browser.sent(1)
        await settled(browser.gone.is_set)
        await browser.visit
        assert not server.queues


@to_its_end
async def test_a_connection_that_ends_while_something_waits_is_not_kept_for_it():
    server = Backpressure(None)
    async with Browser(server) as browser:
        await browser.sent(1, 2)
        browser.said.put_nowait({"type": "websocket.disconnect"})
        await browser.visit
        assert browser.gone.is_set()
        assert (server.queues, server.nbytes) == (set(), {})


@to_its_end
async def test_a_websocket_that_the_app_closes_is_closed_after_all_that_waits():
    async with Browser(Backpressure(None)) as browser:
        await browser.sent(3)
        closing = asyncio.create_task(browser.send({"type": "websocket.close"}))
        for _ in range(20):
            await asyncio.sleep(0)
        assert not closing.done()
        browser.read()
        await closing
        assert [*map(len, browser.got)] == [3, 0]
