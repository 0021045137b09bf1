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
SECONDS = 0.2


async def app(scope: Any, receive: Any, send: Any) -> None:
    """Answers a request after a while, and a websocket with what it hears."""
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.accept"})
        await send({"type": "websocket.send", "text": (await receive())["text"]})
    elif scope["type"] == "http":
        await asyncio.sleep(2 * SECONDS)
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


BODY = b"Content-Length: 9\r\n\r\nabc"


@pytest.mark.parametrize(
    ("sent", "then"),
    [
        # no whole head
        (b"", None),
        (b"GET", None),
        (HEAD, None),
        # an answer may take longer, and the next request is half
        (HEAD + b"\r\n", HEAD),
        # the rest of a body that nobody reads
        (HEAD.replace(b"GET", b"PUT") + BODY, b"d"),
    ],
)
@to_its_end
async def test_a_connection_without_a_whole_request_is_closed(monkeypatch, sent, then):
    async with served(monkeypatch) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(sent)
        if then is not None:
            assert (await reader.readuntil(b"ok")).startswith(b"HTTP/1.1 200 OK")
            writer.write(then)
        assert await asyncio.wait_for(reader.read(), 5.0) == b""
        writer.close()


@to_its_end
async def test_a_head_that_comes_letter_by_letter_is_late_all_the_same(monkeypatch):
    async with served(monkeypatch) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        closed = asyncio.create_task(reader.read())
        for letter in HEAD:
            writer.write(bytes([letter]))
            done, _ = await asyncio.wait({closed}, timeout=SECONDS / 10)
            if done:
                break
        assert closed.done()
        assert closed.result() == b""
        writer.close()


@to_its_end
async def test_a_websocket_stays(monkeypatch):
    async with served(monkeypatch) as port, websockets.connect(f"ws://127.0.0.1:{port}") as socket:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(socket.recv(), 2 * SECONDS)
        await socket.send("still here")
        assert await socket.recv() == "still here"
