"""Admission control before a server, asked as a server asks it."""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any

from attention.core.limits import Limits
from attention.hosting import admission
from attention.hosting.admission import FIRST_PAGES, QUEUE_PATH, Admission
from attention.hosting.waiting_page import COOKIE
from tests.hosting.asking import Answer, ask, inner, to_its_end
from tests.hosting.conftest import LONG


async def echo(scope: Any, receive: Any, send: Any) -> None:
    """A server that answers everything, and a websocket with all it hears."""
    if scope["type"] == "http":
        await inner(scope, receive, send)
        return
    await receive()
    await send({"type": "websocket.accept"})
    while (message := await receive())["type"] == "websocket.receive":
        await send({"type": "websocket.send", "bytes": message["bytes"]})


class Asked:
    """Admission control before that server, and what was asked of it."""

    def __init__(self, app: Any = echo, **limits: Any) -> None:
        self.admission = Admission(app, Limits(**limits), is_kept={"a session"}.__contains__)

    async def get(self, path: str = "/", **more: Any) -> Answer:
        return await ask(self.admission, path, accept="text/html,*/*", **more)

    def visit(self, cookie: str = "", address: str = "10.0.0.1", says: bytes = b"hello") -> Visit:
        return Visit(self.admission, cookie, address, says)


class Visit:
    """A websocket that is open while the context lasts, on which something is said at once.

    answers: what came of it, by then.
    """

    def __init__(self, admission: Admission, cookie: str, address: str, says: bytes) -> None:
        self.admission, self.says, self.client = admission, says, (address, 1)
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
        self.task = asyncio.create_task(self.admission(scope, self.coming.get, self.sent.put))
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


@to_its_end
async def test_who_finds_all_places_taken_gets_a_place_in_the_queue_and_later_the_app():
    asked = Asked(sessions=1)
    async with asked.visit() as inside:
        assert inside.has_a_place
        status, headers, text = await asked.get("/compare")
        cookie = re.match(rf"{COOKIE}=([\w-]+);", headers["set-cookie"])[1]
        kept = f"{COOKIE}={cookie}"
        assert status == 403, "so that a proxy asks the next replica"
        assert '<output role="status">1</output>' in text
        assert "httponly" in headers["set-cookie"].lower()
        for path in ("/static/index.js", "/_stcore/health", "/component/a/b.js"):
            assert (await asked.get(path)).text == "the app"
        async with asked.visit() as second:
            assert [each["type"] for each in second.answers] == ["websocket.close"]
        status, _, told = await asked.get(QUEUE_PATH, cookie=kept)
        assert (status, json.loads(told)) == (403, {"place": 1})
    asked.admission.queue.admitted.clear()  # as after the seconds that a place is kept
    status, _, told = await asked.get(QUEUE_PATH, cookie=kept)
    assert (status, json.loads(told)) == (200, {"place": 0})
    assert (await asked.get("/compare", cookie=kept)).text == "the app"
    async with asked.visit() as passing, asked.visit(cookie) as called:
        assert (passing.has_a_place, called.has_a_place) == (False, True)


@to_its_end
async def test_a_websocket_takes_a_place_by_its_first_message():
    asked = Asked(sessions=1)
    async with asked.visit(says=b"") as silent:
        assert silent.answers[0] == {"type": "websocket.accept", "subprotocol": "streamlit"}
        assert asked.admission.queue.free == 1
        async with asked.visit(address="10.0.0.2") as other:
            assert other.has_a_place
            silent.say(b"too late")
            assert (await silent.sent.get())["type"] == "websocket.close"
            assert other.sent.empty()


@to_its_end
async def test_a_websocket_that_says_nothing_is_closed_and_the_server_hears_nothing_of_it(
    monkeypatch,
):
    monkeypatch.setattr(admission, "FIRST_MESSAGE_SECONDS", 0.01)
    heard: list[str] = []

    async def hears(scope: Any, receive: Any, send: Any) -> None:
        heard.append(scope["type"])

    asked = Asked(hears)
    async with asked.visit(says=b"") as silent:
        closed = await asyncio.wait_for(silent.sent.get(), 5)
        assert (closed["type"], closed["code"]) == ("websocket.close", 1008)
    assert not asked.admission.queue.opening
    assert heard == []


@to_its_end
async def test_a_page_that_comes_back_after_a_cut_need_not_say_anything(monkeypatch):
    monkeypatch.setattr(admission, "FIRST_MESSAGE_SECONDS", 0.0)
    asked = Asked(sessions=7)
    back = asked.visit(says=b"")
    back.protocols.append("a session")
    async with back:
        assert back.answers == [{"type": "websocket.accept"}], "by the server itself"
        assert asked.admission.queue.free == 6
        back.say(b"changed")
        assert (await back.sent.get())["bytes"] == b"changed"
    for session in ("", "x", "another session"):
        stranger = asked.visit(says=b"")
        stranger.protocols.append(session)
        async with stranger:
            assert (await stranger.sent.get())["type"] == "websocket.close", session


@to_its_end
async def test_one_request_of_an_address_goes_on_in_a_turn_of_the_loop_and_others_between():
    asked, done = Asked(), []

    async def get(address: str) -> None:
        await asked.get(address=address)
        done.append(address)

    many = [asyncio.create_task(get("10.0.0.1")) for _ in range(53)]
    await asyncio.gather(*many, get("10.0.0.2"))
    assert done.index("10.0.0.2") < 11
    assert len(done) == 54


@to_its_end
async def test_few_come_in_at_once_in_order_of_arrival(monkeypatch):
    monkeypatch.setattr(admission, "FIRST_PAGE_SECONDS", LONG)
    came, end = list[str](), dict[str, asyncio.Event]()

    async def page(scope: Any, receive: Any, send: Any) -> None:
        address = scope["client"][0]
        came.append(address)
        await end.setdefault(address, asyncio.Event()).wait()
        await send({"type": "websocket.send", "bytes": b"the end"})
        await asyncio.Event().wait()  # the tab stays open

    asked, addresses = Asked(page), [f"10.0.0.{number}" for number in range(5)]
    queue = asked.admission.queue

    async def settle() -> None:
        for _ in range(30):
            await asyncio.sleep(0)

    visits = [asked.visit(address=address) for address in addresses]
    tabs = [asyncio.create_task(visit.__aenter__()) for visit in visits]
    await settle()
    assert (came, queue.entering) == (addresses[:FIRST_PAGES], 5)
    for number, address in enumerate(addresses, start=1):
        end[address].set()
        await settle()
        assert (came, queue.entering) == (addresses[: FIRST_PAGES + number], 5 - number)
    for visit, tab in zip(visits, tabs, strict=True):
        tab.cancel()
        visit.task.cancel()


@to_its_end
async def test_a_first_page_that_takes_long_lets_the_next_one_come(monkeypatch):
    monkeypatch.setattr(admission, "FIRST_PAGE_SECONDS", 0.01)
    control = Asked().admission
    for _ in range(FIRST_PAGES + 1):
        await control._first_page().__aenter__()
    assert control.queue.entering <= FIRST_PAGES


def test_a_visit_is_one_line_without_the_visitor_s_words(capsys):
    async def story() -> None:
        async with Asked().visit(says=b"my secret"):
            pass

    asyncio.run(story())
    (line,) = capsys.readouterr().err.splitlines()
    told, counts = json.loads(line), ("seconds", "changes", "received", "sent")
    assert [told[name] for name in counts] == [0, 1, 9, 9]
    assert "secret" not in line
