"""Half-sent requests, to uvicorn as it stands on a bare host."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import uvicorn
import websockets

from attention.hosting import deadlines
from tests.hosting.asking import to_its_end
from tests.serving import free_port

HEAD = b"GET / HTTP/1.1\r\nHost: a\r\n"
SECONDS = 0.3


async def app(scope: Any, receive: Any, send: Any) -> None:
    """Answers a request after a while, and a websocket with what it hears."""
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.accept"})
        await send({"type": "websocket.send", "text": (await receive())["text"]})
    elif scope["type"] == "http":
        await asyncio.sleep(3 * SECONDS)
        headers = [(b"content-length", b"2")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"ok"})


@asynccontextmanager
async def served(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[int]:
    """The port of a server with that app and a short deadline."""
    monkeypatch.setattr(deadlines, "SECONDS", SECONDS)
    deadlines.close_silent_connections()
    deadlines.close_silent_connections()  # as two apps of a process would
    port = free_port()
    config = uvicorn.Config(app, port=port, lifespan="off", log_level="critical")
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    yield port
    server.should_exit = True
    await serving


async def rest(reader: asyncio.StreamReader) -> bytes:
    """All that comes until the server closes, which it does within seconds."""
    return await asyncio.wait_for(reader.read(), 5.0)


@to_its_end
async def test_a_connection_without_a_whole_head_is_closed(monkeypatch) -> None:
    async with served(monkeypatch) as port:
        for sent in (b"", b"GET", HEAD):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(sent)
            assert await rest(reader) == b""
            writer.close()


@to_its_end
async def test_a_head_that_comes_letter_by_letter_is_late_all_the_same(monkeypatch) -> None:
    async with served(monkeypatch) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        closed = asyncio.create_task(rest(reader))
        for letter in HEAD:
            if closed.done():
                break
            writer.write(bytes([letter]))
            await asyncio.sleep(SECONDS / 10)
        assert await closed == b""
        assert closed.done()
        writer.close()


@to_its_end
async def test_an_answer_may_take_longer_and_the_next_half_request_is_closed(monkeypatch) -> None:
    async with served(monkeypatch) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(HEAD + b"\r\n")
        assert (await reader.readuntil(b"ok")).startswith(b"HTTP/1.1 200 OK")
        writer.write(HEAD)
        assert await rest(reader) == b""
        writer.close()


@to_its_end
async def test_the_rest_of_a_body_that_nobody_reads_is_not_waited_for(monkeypatch) -> None:
    async with served(monkeypatch) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(HEAD.replace(b"GET", b"PUT") + b"Content-Length: 9\r\n\r\nabc")
        await reader.readuntil(b"ok")
        writer.write(b"d")
        assert await rest(reader) == b""
        writer.close()


@to_its_end
async def test_a_websocket_stays(monkeypatch) -> None:
    async with served(monkeypatch) as port, websockets.connect(f"ws://127.0.0.1:{port}") as socket:
        await asyncio.sleep(3 * SECONDS)
        await socket.send("still here")
        assert await socket.recv() == "still here"
