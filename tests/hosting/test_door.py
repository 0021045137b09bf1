"""What stands before the server, asked as a server asks it."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import dataclass, field
from typing import Any

import pytest

from attention.core.limits import Limits
from attention.hosting.door import COOKIE, QUEUE, Door
from attention.hosting.headers import EMBEDDED_VARIABLE, Headers, security_headers

HTML = {"accept": "text/html,*/*"}


async def inner(scope: Any, receive: Any, send: Any) -> None:
    """A server that answers everything, and a websocket with all it hears."""
    if scope["type"] == "http":
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"the app"})
        return
    await receive()
    await send({"type": "websocket.accept"})
    while (message := await receive())["type"] == "websocket.receive":
        await send({"type": "websocket.send", "bytes": message["bytes"]})


@dataclass
class Asked:
    """A door before that server, and what was asked of it."""

    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        self.door = Door(inner, self.limits)

    async def get(
        self, path: str = "/", method: str = "GET", address: str = "10.0.0.1", **headers: str
    ) -> tuple[int, dict[str, str], str]:
        """The answer: its status, headers and text."""
        scope = {
            **{"type": "http", "method": method, "path": path, "query_string": b""},
            **{"scheme": "http", "server": ("app", 80), "client": (address, 1)},
            "headers": [
                (n.replace("_", "-").encode(), v.encode()) for n, v in (HTML | headers).items()
            ],
        }
        sent: list[dict[str, Any]] = []

        async def send(message: Any) -> None:
            sent.append(message)

        await self.door(scope, self._nothing, send)
        found = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
        text = b"".join(message.get("body", b"") for message in sent).decode()
        return sent[0]["status"], found, text

    async def _nothing(self) -> dict[str, Any]:
        return {"type": "http.request", "body": b""}

    def visit(self, cookie: str = "") -> Visit:
        return Visit(self.door, cookie)


class Visit:
    """A websocket that is open while the context lasts."""

    def __init__(self, door: Door, cookie: str) -> None:
        self.door, self.cookie = door, cookie
        self.coming: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.sent: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

    async def __aenter__(self) -> Visit:
        headers = [(b"cookie", f"{COOKIE}={self.cookie}".encode())] if self.cookie else []
        scope = {
            **{"type": "websocket", "path": "/_stcore/stream", "query_string": b""},
            **{"client": ("10.0.0.1", 1), "headers": headers},
        }
        self.coming.put_nowait({"type": "websocket.connect"})
        self.task = asyncio.create_task(self.door(scope, self.coming.get, self.sent.put))
        self.answer = (await self.sent.get())["type"]
        return self

    async def __aexit__(self, *_: object) -> None:
        self.coming.put_nowait({"type": "websocket.disconnect"})
        await self.task


def test_a_page_is_answered_by_the_app_while_there_is_a_place() -> None:
    assert asyncio.run(Asked().get())[::2] == (200, "the app")


def test_who_finds_all_places_taken_gets_a_place_in_the_queue_and_later_the_app() -> None:
    async def story() -> None:
        asked = Asked(Limits(sessions=1))
        async with asked.visit() as inside:
            assert inside.answer == "websocket.accept"
            status, headers, text = await asked.get("/compare")
            cookie = re.match(rf"{COOKIE}=([\w-]+);", headers["set-cookie"])[1]
            assert status == 200
            assert '<output role="status">1</output>' in text
            assert "httponly" in headers["set-cookie"].lower()
            for path in ("/static/index.js", "/_stcore/health", "/component/a/b.js"):
                assert (await asked.get(path))[2] == "the app"
            async with asked.visit() as second:
                assert second.answer == "websocket.close"
        asked.door.room.inside.clear()  # as after the seconds that a place is kept
        kept = f"{COOKIE}={cookie}"
        assert json.loads((await asked.get(QUEUE, cookie=kept))[2]) == {"place": 0}
        assert (await asked.get("/compare", cookie=kept))[2] == "the app"
        async with asked.visit() as passing:
            assert passing.answer == "websocket.close"
        async with asked.visit(cookie) as called:
            assert called.answer == "websocket.accept"

    asyncio.run(story())


def test_an_address_that_asks_too_often_is_asked_to_wait_and_no_other_one() -> None:
    async def story() -> None:
        asked = Asked(Limits(requests=1))
        statuses = [(await asked.get())[0] for _ in range(12)]
        assert statuses[:10] == [200] * 10
        status, headers, text = await asked.get()
        assert (status, headers["retry-after"]) == (429, "2")
        assert "Please wait a moment" in text
        assert (await asked.get(address="10.0.0.2"))[0] == 200

    asyncio.run(story())


def test_messages_wait_once_a_session_has_sent_more_than_it_may(monkeypatch) -> None:
    waited: list[float] = []

    async def story() -> None:
        async with Asked(Limits(messages=5)).visit() as visit:
            for _ in range(53):
                visit.coming.put_nowait({"type": "websocket.receive", "bytes": b"x"})
                await visit.sent.get()

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr("attention.hosting.door.asyncio.sleep", sleep)
    asyncio.run(story())
    assert len(waited) == 53
    assert waited[:50] == [0.0] * 50
    assert all(seconds > 0 for seconds in waited[51:])


def test_a_visit_is_one_line_without_the_visitor_s_words(capsys) -> None:
    async def story() -> None:
        async with Asked().visit() as visit:
            visit.coming.put_nowait({"type": "websocket.receive", "bytes": b"my secret"})
            await visit.sent.get()

    asyncio.run(story())
    (line,) = capsys.readouterr().err.splitlines()
    told = json.loads(line)
    assert {name: told[name] for name in ("seconds", "changes", "received", "sent")} == {
        **{"seconds": 0, "changes": 1, "received": 9, "sent": 9}
    }
    assert "secret" not in line


def test_a_lifespan_is_passed_on() -> None:
    scopes: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        scopes.append(scope["type"])

    asyncio.run(Door(app, Limits())({"type": "lifespan"}, None, None))
    assert scopes == ["lifespan"]


def answered(headers: dict[str, str], **own: str) -> dict[str, str]:
    """The headers of an answer that has some of its own."""
    sent: list[dict[str, Any]] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        raw = [(name.replace("_", "-").encode(), value.encode()) for name, value in own.items()]
        await send({"type": "http.response.start", "status": 200, "headers": raw})

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(Headers(app, headers)({"type": "http"}, None, send))
    return {name.decode(): value.decode() for name, value in sent[0]["headers"]}


def test_every_answer_says_what_a_browser_may_do_with_it() -> None:
    found = answered(security_headers(["one()"]), referrer_policy="no-referrer")
    assert found["x-content-type-options"] == "nosniff"
    assert found["referrer-policy"] == "no-referrer"
    policy = dict(part.split(" ", 1) for part in found["content-security-policy"].split("; "))
    assert policy["default-src"] == "'self'"
    assert "'sha256-HR7iaask9daLMRRskMI++QeJtjWDOjyPA6lGzYGzKW4='" in policy["script-src"]
    assert not {"'unsafe-inline'", "'unsafe-eval'", "*"} & set(policy["script-src"].split())


@pytest.mark.parametrize(
    ("named", "ancestors"),
    [
        ("", "*"),
        ("'self' https://a.example", "'self' https://a.example"),
        ("'none'; script-src *", "'none' script-src *"),
    ],
)
def test_an_owner_says_which_pages_may_embed_the_app(
    monkeypatch, named: str, ancestors: str
) -> None:
    monkeypatch.setenv(EMBEDDED_VARIABLE, named)
    assert security_headers([])["Content-Security-Policy"].endswith(f"frame-ancestors {ancestors}")
