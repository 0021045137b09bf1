"""Where a request comes from, as the server sees it behind proxies that the owner names."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from attention.hosting.addresses import PROXIES_VARIABLE, believed


def seen(peer: str, header: str) -> str:
    """Where a request from a peer comes from, with that X-Forwarded-For."""
    found: list[str] = []

    async def app(scope: Any, *_: object) -> None:
        found.append(scope["client"][0])

    middleware = believed()
    scope = {"type": "websocket", "client": (peer, 7), "scheme": "ws"}
    scope["headers"] = [(b"x-forwarded-for", header.encode())]
    asyncio.run(middleware.cls(app, *middleware.args, **middleware.kwargs)(scope, None, None))
    return found[0]


@pytest.mark.parametrize(
    ("named", "peer", "header", "address"),
    [
        ("127.0.0.1", "::ffff:127.0.0.1", "203.0.113.9", "203.0.113.9"),
        ("127.0.0.1", "127.0.0.1", "203.0.113.9", "203.0.113.9"),
        ("127.0.0.1", "::ffff:192.0.2.1", "203.0.113.9", "::ffff:192.0.2.1"),
        ("10.16.0.0/12,::1", "::ffff:10.17.3.80", "8.8.4.4, 10.18.1.1", "8.8.4.4"),
        ("10.16.0.0/12", "::ffff:10.32.0.1", "203.0.113.9", "::ffff:10.32.0.1"),
        ("*", "::ffff:192.0.2.1", "203.0.113.9, 192.0.2.7", "203.0.113.9"),
        ("a name", "::ffff:192.0.2.1", "203.0.113.9", "::ffff:192.0.2.1"),
        (None, "::ffff:127.0.0.1", "203.0.113.9", "203.0.113.9"),
    ],
)
def test_a_proxy_is_believed_whatever_kind_of_socket_sees_it(
    monkeypatch, named: str | None, peer: str, header: str, address: str
) -> None:
    if named is None:
        monkeypatch.delenv(PROXIES_VARIABLE, raising=False)
    else:
        monkeypatch.setenv(PROXIES_VARIABLE, named)
    assert seen(peer, header) == address
