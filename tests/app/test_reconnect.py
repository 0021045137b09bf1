"""A page that comes back after a cut is sent whole runs only."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from starlette.requests import HTTPConnection
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from attention.app.streamlit_fixes import reconnect
from tests.cases import over

ASKED, CHANGED = BackMsg(app_heartbeat=True), BackMsg(stop_script=True)


def sent(**fields: Any) -> dict[str, Any]:
    """Message as Streamlit sends it."""
    return {"type": "websocket.send", "bytes": ForwardMsg(**fields).SerializeToString()}


def begin(page: str) -> dict[str, Any]:
    return sent(new_session={"page_script_hash": page})


END = sent(script_finished=ForwardMsg.FINISHED_SUCCESSFULLY)
DRAWN = sent(delta={"fragment_id": "sentence"})
ANSWER = sent(heartbeat_ack=True)
ACCEPT = {"type": "websocket.accept"}


class Tab:
    """Messages that come from a page, and those it gets."""

    def __init__(self) -> None:
        self.got: list[Any] = []
        changed = {"type": "websocket.receive", "bytes": CHANGED.SerializeToString()}
        self.coming = iter([{"type": "websocket.connect"}, changed, changed])
        self._receive, self._send = reconnect.only_whole_runs(self._next, self._get)

    async def _next(self) -> dict[str, Any]:
        return next(self.coming)

    async def _get(self, message: Any) -> None:
        self.got.append(message)

    async def connect(self) -> None:
        assert (await self._receive())["type"] == "websocket.connect"

    async def hears(self, *expected: BackMsg) -> None:
        """Expect these messages to be received, as if they came from the page."""
        for message in expected:
            assert BackMsg.FromString((await self._receive())["bytes"]) == message

    async def send(self, *messages: dict[str, Any]) -> None:
        for message in messages:
            await self._send(message)


@over(
    "case",
    [
        ("", False),
        ("streamlit", False),
        ("streamlit, token", False),
        ("streamlit, token, ", False),
        ("streamlit, , 7c1f", True),
        ("streamlit, token, 7c1f", True),
    ],
)
def test_a_page_that_names_its_session_comes_back(case: tuple[str, bool]) -> None:
    names, back = case
    headers = [(b"sec-websocket-protocol", names.encode())] if names else []
    assert reconnect.comes_back(HTTPConnection({"type": "websocket", "headers": headers})) is back


def test_of_a_run_that_was_cut_nothing_is_sent() -> None:
    async def visit(tab: Tab) -> None:
        await tab.connect()
        await tab.hears(ASKED)
        await tab.send(ACCEPT, DRAWN, END, begin("cut"), END, ANSWER, END)
        await tab.hears(CHANGED)
        await tab.send(begin("whole"), DRAWN, END, begin("next"), END)
        await tab.hears(CHANGED)
        assert tab.got == [ACCEPT, begin("whole"), DRAWN, END, begin("next"), END]

    asyncio.run(visit(Tab()))


def test_a_question_that_was_forgotten_is_asked_again_but_not_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reconnect, "PAUSE", 0)

    async def visit(tab: Tab) -> None:
        await tab.connect()
        await tab.hears(*[ASKED] * 7)
        await tab.send(begin("cut"), ANSWER)
        await tab.hears(CHANGED)
        await tab.send(begin("whole"))
        assert tab.got == [begin("whole")]

    async def visit_without_answer(tab: Tab) -> None:
        await tab.connect()
        await tab.hears(*[ASKED] * reconnect.MOST_ASKED, CHANGED)
        await tab.send(DRAWN)
        assert tab.got == [DRAWN]

    asyncio.run(visit(Tab()))
    asyncio.run(visit_without_answer(Tab()))
