"""Files for a session that another replica has."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from attention.hosting.elsewhere import Elsewhere


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/_stcore/upload_file/here/7", 204),
        ("/_stcore/upload_file/there/7", 404),
        ("/_stcore/upload_file/here/there", 204),
        ("/base/_stcore/upload_file/there/7", 404),
        ("/_stcore/health", 204),
    ],
)
def test_a_file_is_taken_where_its_session_is(path: str, status: int) -> None:
    statuses: list[int] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 204, "headers": []})

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    scope = {"type": "http", "path": path, "method": "PUT", "headers": []}
    asyncio.run(Elsewhere(app, {"here"}.__contains__)(scope, None, send))
    assert statuses == [status]


def test_what_is_no_request_is_passed_on() -> None:
    passed: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        passed.append(scope["type"])

    asyncio.run(Elsewhere(app, lambda _: False)({"type": "lifespan"}, None, None))
    assert passed == ["lifespan"]
