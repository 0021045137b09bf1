"""The bare address leads to a link; every other address is answered as it was."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from attention.hosting.entrance import Entrance


def answered(path: str, scope: dict[str, Any]) -> tuple[int, dict[str, str]]:
    """The status and the headers with which a request is answered; 204 where it is passed on."""
    messages: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 204, "headers": []})

    async def send(message: Any) -> None:
        messages.append(message)

    whole = {"type": "http", "method": "GET", "query_string": b"", "headers": [], **scope}
    links = {path: lambda: "s=a+cat&query=3", "/none": lambda: ""}
    asyncio.run(Entrance(app, links)(whole, None, send))
    headers = {name.decode(): value.decode() for name, value in messages[0]["headers"]}
    return messages[0]["status"], headers


@pytest.mark.parametrize("path", ["/", "/base/", "/base/trained"])
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_bare_address_leads_to_a_link_of_the_same_path(path: str, method: str) -> None:
    status, headers = answered(path, {"path": path, "method": method})
    assert status == 307
    assert headers["location"] == "?s=a+cat&query=3"
    assert headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    "scope",
    [
        {"path": "/", "query_string": b"seed=0"},
        {"path": "/", "query_string": b"embed=true"},
        {"path": "/explore"},
        {"path": "/none"},
        {"path": "/guide"},
        {"path": "/_stcore/health"},
        {"path": "/", "method": "POST"},
        {"path": "/", "type": "websocket"},
    ],
)
def test_an_address_that_says_anything_is_passed_on(scope: dict[str, Any]) -> None:
    assert answered("/", scope) == (204, {})
