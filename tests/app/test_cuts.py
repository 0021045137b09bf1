"""A page that comes back after a cut is sent whole runs only."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.requests import HTTPConnection
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from attention.app.streamlit_fixes import cuts

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
        self.coming: Iterator[dict[str, Any]] = iter(
            [{"type": "websocket.connect"}]
            + 2 * [{"type": "websocket.receive", "bytes": CHANGED.SerializeToString()}]
        )

    async def receive(self) -> dict[str, Any]:
        return next(self.coming)

    async def send(self, message: Any) -> None:
        self.got.append(message)


def heard(message: Any) -> BackMsg:
    return BackMsg.FromString(message["bytes"])


@pytest.mark.parametrize(
    ("names", "back"),
    [
        ("", False),
        ("streamlit", False),
        ("streamlit, token", False),
        ("streamlit, token, ", False),
        ("streamlit, , 7c1f", True),
        ("streamlit, token, 7c1f", True),
    ],
)
def test_a_page_that_names_its_session_comes_back(names: str, back: bool) -> None:
    headers = [(b"sec-websocket-protocol", names.encode())] if names else []
    assert cuts.comes_back(HTTPConnection({"type": "websocket", "headers": headers})) is back


def test_of_a_run_that_was_cut_nothing_is_sent() -> None:
    tab = Tab()

    async def visit() -> None:
        receive, send = cuts.only_whole_runs(tab.receive, tab.send)
        assert (await receive())["type"] == "websocket.connect"
        assert heard(await receive()) == ASKED
        for message in (ACCEPT, DRAWN, END, begin("cut"), END, ANSWER, END):
            await send(message)
        assert heard(await receive()) == CHANGED
        for message in (begin("whole"), DRAWN, END, begin("next"), END):
            await send(message)
        assert heard(await receive()) == CHANGED

    asyncio.run(visit())
    assert tab.got == [ACCEPT, begin("whole"), DRAWN, END, begin("next"), END]


def test_a_question_that_was_forgotten_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuts, "PAUSE", 0)
    tab = Tab()

    async def visit() -> None:
        receive, send = cuts.only_whole_runs(tab.receive, tab.send)
        await receive()
        assert [heard(await receive()) for _ in range(7)] == [ASKED] * 7
        await send(begin("cut"))
        await send(ANSWER)
        assert heard(await receive()) == CHANGED
        await send(begin("whole"))

    asyncio.run(visit())
    assert tab.got == [begin("whole")]


def test_a_server_that_never_answers_is_not_asked_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuts, "PAUSE", 0)
    tab = Tab()

    async def visit() -> None:
        receive, send = cuts.only_whole_runs(tab.receive, tab.send)
        await receive()
        for _ in range(cuts.MOST_ASKED):
            assert heard(await receive()) == ASKED
        assert heard(await receive()) == CHANGED
        await send(DRAWN)

    asyncio.run(visit())
    assert tab.got == [DRAWN]
