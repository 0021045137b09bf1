"""Requests that are longer than anybody needs, and cookies that cost much to read."""

from __future__ import annotations

import asyncio
from http.cookies import SimpleCookie
from typing import Any

import pytest

from attention.hosting import request_limits
from attention.hosting.request_limits import (
    MAX_HEADER,
    MAX_HEADERS,
    MAX_PATH,
    RequestLimits,
    too_long,
    without_escapes,
)
from attention.hosting.waiting_page import COOKIE
from tests.hosting.asking import answer, inner


def scope(path: str = "/", *headers: tuple[bytes, bytes]) -> dict[str, Any]:
    return {"type": "http", "path": path, "headers": [*headers]}


def test_a_request_may_be_as_long_as_the_bounds_say_and_no_longer() -> None:
    assert not too_long(scope("/" + "a" * (MAX_PATH - 1)))
    assert too_long(scope("/" + "a" * MAX_PATH))
    assert not too_long(scope("/", *[(b"a", b"b")] * MAX_HEADERS))
    assert too_long(scope("/", *[(b"a", b"b")] * (MAX_HEADERS + 1)))
    assert not too_long(scope("/", (b"cookie", b"a" * MAX_HEADER)))
    assert too_long(scope("/", (b"cookie", b"a" * (MAX_HEADER + 1))))


@pytest.mark.parametrize(
    ("path", "more"),
    [
        ("/" + "a/" * 30_000, {}),
        ("/", {"cookie": "a=b;" * 15_000}),
        ("/guide", {f"x-{number}": "a" for number in range(MAX_HEADERS + 1)}),
    ],
)
def test_a_long_request_is_refused_and_told_what_may_be(monkeypatch, path: str, more: Any) -> None:
    monkeypatch.setattr(request_limits, "PAUSE", 0.0)
    reached: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        reached.append(scope)

    bounded = RequestLimits(app)
    refused = answer(bounded, path, **more)
    assert (refused.status, reached) == (431, [])
    assert f"{MAX_HEADERS} headers of {MAX_HEADER:,} bytes" in refused.text
    sent: list[Any] = []

    async def connect() -> Any:
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        sent.append(message["type"])

    headers = [(name.encode(), value.encode()) for name, value in more.items()]
    asyncio.run(bounded(scope(path, *headers) | {"type": "websocket"}, connect, send))
    assert (sent, reached) == (["websocket.close"], [])


def test_cookies_with_escapes_are_left_out_before_anybody_reads_one() -> None:
    seen: list[bytes] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.extend(value for name, value in scope["headers"] if name == b"cookie")
        await inner(scope, receive, send)

    other = SimpleCookie({"other": 'a "word"'})["other"].coded_value
    assert "\\" in other
    sent = f"first=1; other={other}; {COOKIE}=me; last={chr(92) * 3000}"
    assert answer(RequestLimits(app), cookie=sent).status == 200
    assert seen == [f"first=1; {COOKIE}=me".encode()]
    plain = scope("/", (b"cookie", b"first=1"), (b"x-other", b"a\\b"))
    assert without_escapes(plain) is plain
