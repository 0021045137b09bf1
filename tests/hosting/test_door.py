"""Door before the server, asked as a server asks it."""

from __future__ import annotations

import asyncio
import json
import re
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

import pytest

from attention.core.limits import Limits
from attention.hosting import door
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
        self.door = Door(inner, self.limits, here={"a session"}.__contains__)

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

    def visit(self, cookie: str = "", address: str = "10.0.0.1", says: bytes = b"hello") -> Visit:
        return Visit(self.door, cookie, address, says)


class Visit:
    """A websocket that is open while the context lasts, on which something is said at once.

    answers: what came of it, by then.
    """

    def __init__(self, door: Door, cookie: str, address: str, says: bytes) -> None:
        self.door, self.says, self.client = door, says, (address, 1)
        self.headers = [(b"cookie", f"{COOKIE}={cookie}".encode())] if cookie else []
        self.protocols = ["streamlit", "token"]
        self.coming: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.sent: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

    async def __aenter__(self) -> Visit:
        scope = {
            **{"type": "websocket", "path": "/_stcore/stream", "query_string": b""},
            **{"client": self.client, "headers": self.headers, "subprotocols": self.protocols},
        }
        self.coming.put_nowait({"type": "websocket.connect"})
        self.task = asyncio.create_task(self.door(scope, self.coming.get, self.sent.put))
        self.answers = [await self.sent.get()]
        if self.says and self.answers[0]["type"] == "websocket.accept":
            self.say(self.says)
            self.answers.append(await self.sent.get())
        return self

    def say(self, words: bytes) -> None:
        self.coming.put_nowait({"type": "websocket.receive", "bytes": words})

    @property
    def has_a_place(self) -> bool:
        """True if what was said came to the server, which says it back."""
        return self.answers[-1] == {"type": "websocket.send", "bytes": self.says}

    async def __aexit__(self, *_: object) -> None:
        self.coming.put_nowait({"type": "websocket.disconnect"})
        await self.task


def test_who_finds_all_places_taken_gets_a_place_in_the_queue_and_later_the_app() -> None:
    async def story() -> None:
        asked = Asked(Limits(sessions=1))
        async with asked.visit() as inside:
            assert inside.has_a_place
            status, headers, text = await asked.get("/compare")
            cookie = re.match(rf"{COOKIE}=([\w-]+);", headers["set-cookie"])[1]
            kept = f"{COOKIE}={cookie}"
            assert status == 403, "so that a proxy asks the next replica"
            assert '<output role="status">1</output>' in text
            assert "httponly" in headers["set-cookie"].lower()
            for path in ("/static/index.js", "/_stcore/health", "/component/a/b.js"):
                assert (await asked.get(path))[2] == "the app"
            async with asked.visit() as second:
                assert [each["type"] for each in second.answers] == ["websocket.close"]
            status, _, told = await asked.get(QUEUE, cookie=kept)
            assert (status, json.loads(told)) == (403, {"place": 1})
        asked.door.room.inside.clear()  # as after the seconds that a place is kept
        status, _, told = await asked.get(QUEUE, cookie=kept)
        assert (status, json.loads(told)) == (200, {"place": 0})
        assert (await asked.get("/compare", cookie=kept))[2] == "the app"
        async with asked.visit() as passing:
            assert not passing.has_a_place
        async with asked.visit(cookie) as called:
            assert called.has_a_place

    asyncio.run(story())


def test_a_websocket_takes_a_place_by_its_first_message() -> None:
    async def story() -> None:
        asked = Asked(Limits(sessions=1))
        async with asked.visit(says=b"") as silent:
            assert silent.answers[0] == {"type": "websocket.accept", "subprotocol": "streamlit"}
            assert asked.door.room.free == 1
            async with asked.visit(address="10.0.0.2") as other:
                assert other.has_a_place
                silent.say(b"too late")
                assert (await silent.sent.get())["type"] == "websocket.close"
                assert other.sent.empty()

    asyncio.run(story())


def test_a_websocket_that_says_nothing_is_closed_and_the_server_hears_nothing_of_it(
    monkeypatch,
) -> None:
    monkeypatch.setattr(door, "SILENT", 0.01)
    heard: list[str] = []

    async def hears(scope: Any, receive: Any, send: Any) -> None:
        heard.append(scope["type"])

    async def story() -> None:
        asked = Asked()
        asked.door.app = hears
        async with asked.visit(says=b"") as silent:
            closed = await asyncio.wait_for(silent.sent.get(), 5)
            assert (closed["type"], closed["code"]) == ("websocket.close", 1008)
        assert not asked.door.room.silent

    asyncio.run(story())
    assert heard == []


def test_a_page_that_comes_back_after_a_cut_need_not_say_anything(monkeypatch) -> None:
    monkeypatch.setattr(door, "SILENT", 0.0)

    async def story() -> None:
        asked = Asked(Limits(sessions=7))
        back = asked.visit(says=b"")
        back.protocols.append("a session")
        async with back:
            assert back.answers == [{"type": "websocket.accept"}], "by the server itself"
            assert asked.door.room.free == 6
            back.say(b"changed")
            assert (await back.sent.get())["bytes"] == b"changed"
        for session in ("", "x", "another session"):
            stranger = asked.visit(says=b"")
            stranger.protocols.append(session)
            async with stranger:
                assert (await stranger.sent.get())["type"] == "websocket.close", session

    asyncio.run(story())


def test_one_address_leaves_places_to_the_others_and_its_next_visitor_reads_why() -> None:
    async def story() -> None:
        asked = Asked(Limits(sessions=7, address=50))
        async with AsyncExitStack() as open_still:
            visits = [asked.visit(cookie=f"name{number}") for number in range(5)]
            entered = [await open_still.enter_async_context(visit) for visit in visits]
            assert [visit.has_a_place for visit in entered] == [True] * 3 + [False] * 2
            status, _, text = await asked.get()
            assert (status, "All places for your network are taken" in text) == (403, True)
            assert (await asked.get(address="10.0.0.2"))[2] == "the app"
            async with asked.visit(address="10.0.0.2") as other:
                assert other.has_a_place

    asyncio.run(story())


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("2001:db8:1:2::7", "2001:db8:1:2:ffff::9", True),
        ("2001:db8:1:2::7", "2001:db8:1:3::7", False),
        ("::ffff:192.0.2.1", "192.0.2.1", True),
        ("::ffff:192.0.2.1", "::ffff:192.0.2.2", False),
        ("192.0.2.1", "192.0.2.2", False),
        ("a name", "another", False),
    ],
)
def test_one_address_is_what_all_in_a_house_have_in_common(
    one: str, other: str, same: bool
) -> None:
    async def story() -> None:
        asked = Asked(Limits(requests=1))
        statuses = [(await asked.get(address=one))[0] for _ in range(11)]
        assert statuses[-1] == 429
        assert (await asked.get(address=other))[0] == (429 if same else 200)

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
            for _ in range(52):
                visit.say(b"x")
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
        async with Asked().visit(says=b"my secret"):
            pass

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

    asyncio.run(Door(app, Limits(), bool)({"type": "lifespan"}, None, None))
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
