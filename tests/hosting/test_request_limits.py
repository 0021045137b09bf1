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
    without_escapes,
)
from attention.hosting.waiting_page import COOKIE
from tests.hosting.asking import Answer, answer, inner, nothing


def scope(path: str = "/", *headers: tuple[bytes, bytes]) -> dict[str, Any]:
    return {"type": "http", "path": path, "headers": [*headers]}


@pytest.mark.parametrize(
    ("path", "more"),
    [
        (MAX_PATH, {}),
        (1, {"cookie": MAX_HEADER}),
        (1, {f"x-{number}": 1 for number in range(MAX_HEADERS)}),
    ],
    ids=["path", "header", "headers"],
)
def test_a_request_that_is_longer_than_may_be_is_refused_and_told_so(
    monkeypatch, path: int, more: dict[str, int]
) -> None:
    monkeypatch.setattr(request_limits, "PAUSE", 0.0)
    reached: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        reached.append(scope)
        await inner(scope, receive, send)

    def asked(path: int, more: dict[str, int]) -> Answer:
        named = {name: "a" * length for name, length in more.items()}
        return answer(RequestLimits(app), "/".ljust(path, "a"), **named)

    assert asked(path, more).status == 200
    longer = {name: length + 1 for name, length in more.items()}
    refused = asked(path + (not more), longer if len(more) < 2 else more | {"one-more": 1})
    assert (refused.status, len(reached)) == (431, 1)
    assert f"{MAX_HEADERS} headers of {MAX_HEADER:,} bytes" in refused.text


def test_a_websocket_whose_request_is_too_long_is_closed(monkeypatch) -> None:
    monkeypatch.setattr(request_limits, "PAUSE", 0.0)
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message["type"])

    connect = scope("/" + "a" * MAX_PATH) | {"type": "websocket"}
    asyncio.run(RequestLimits(inner)(connect, nothing, send))
    assert sent == ["websocket.close"]


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
