"""Fixes for Streamlit: runs after a cut, parts of a page that was left, errors in the log."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest
from starlette.requests import HTTPConnection
from streamlit import config, error_util
from streamlit.elements import exception
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Exception_pb2 import Exception as ExceptionProto
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from attention.app.state.view import own_settings
from attention.app.streamlit_fixes import errors, reconnect
from attention.app.streamlit_fixes.stale_fragments import only_of_the_page
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
    "names, back",
    [
        ("", False),
        ("streamlit", False),
        ("streamlit, token", False),
        ("streamlit, token, ", False),
        ("streamlit, , 7c1f", True),
        ("streamlit, token, 7c1f", True),
    ],
)
def test_a_page_that_names_its_session_comes_back(names, back):
    headers = [(b"sec-websocket-protocol", names.encode())] if names else []
    assert reconnect.comes_back(HTTPConnection({"type": "websocket", "headers": headers})) is back


def test_of_a_run_that_was_cut_nothing_is_sent():
    async def visit(tab: Tab) -> None:
        await tab.connect()
        await tab.hears(ASKED)
        await tab.send(ACCEPT, DRAWN, END, begin("cut"), END, ANSWER, END)
        await tab.hears(CHANGED)
        await tab.send(begin("whole"), DRAWN, END, begin("next"), END)
        await tab.hears(CHANGED)
        assert tab.got == [ACCEPT, begin("whole"), DRAWN, END, begin("next"), END]

    asyncio.run(visit(Tab()))


def test_a_question_that_was_forgotten_is_asked_again_but_not_for_ever(monkeypatch):
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


# Messages from a part of a page that one has left are dropped, and nothing else


def rerun(page: str, part: str = "") -> BackMsg:
    return BackMsg(rerun_script={"page_script_hash": page, "fragment_id": part})


def led_to(page: str) -> ForwardMsg:
    return ForwardMsg(navigation={"page_script_hash": page})


HEARTBEAT, PART = BackMsg(app_heartbeat=True), ForwardMsg(delta={"fragment_id": "sentence"})


def received(*told: BackMsg | ForwardMsg) -> list[BackMsg]:
    """Messages of a browser that are received, with those of the server between them."""
    sent: list[Any] = []

    async def visit() -> list[BackMsg]:
        coming: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

        async def send(message: Any) -> None:
            sent.append(ForwardMsg.FromString(message["bytes"]))

        receive, send_noting = only_of_the_page(coming.get, send)
        got = []
        for message in told:
            data = message.SerializeToString()
            if isinstance(message, ForwardMsg):
                await send_noting({"type": "websocket.send", "bytes": data})
                continue
            coming.put_nowait({"type": "websocket.receive", "bytes": data})
            coming.put_nowait({"type": "websocket.disconnect"})
            if (heard := await receive())["type"] == "websocket.receive":
                got.append(BackMsg.FromString(heard["bytes"]))
                coming.get_nowait()
        return got

    got = asyncio.run(visit())
    assert sent == [message for message in told if isinstance(message, ForwardMsg)]
    return got


def test_a_part_of_a_page_that_was_left_is_not_run():
    told = (rerun("one"), led_to("one"), rerun("one", "p"), rerun("two"), rerun("one", "p"))
    assert received(*told) == [rerun("one"), rerun("one", "p"), rerun("two")]
    told = (rerun(""), led_to("one"), rerun("two"), rerun("one", "p"), led_to("two"))
    assert received(*told, rerun("one", "p")) == [rerun(""), rerun("two")]


def test_a_part_of_the_page_that_is_shown_is_run_whoever_led_there():
    led_by_the_server = (rerun(""), led_to("one"), PART, led_to("two"), rerun("two", "p"))
    assert received(*led_by_the_server) == [rerun(""), rerun("two", "p")]
    there_and_back = (rerun("one"), rerun("two"), rerun("one"), rerun("one", "p"))
    assert received(*there_and_back) == [*there_and_back]


def test_where_a_page_is_not_known_or_not_named_all_is_received():
    told = (HEARTBEAT, rerun("one", "p"), rerun("one"), rerun("", "p"), HEARTBEAT)
    assert received(*told) == [*told]


# The log of errors: where they arose, in one line, and nothing that a visitor wrote


SECRET = "what a visitor typed"


@pytest.fixture
def logged(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The lines that Streamlit's own logging of errors writes, from now on."""
    lines: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: lines.append(logging.Formatter().format(record))
    logger = logging.getLogger(errors.LOGGER)
    monkeypatch.setattr(logger, "filters", [])
    monkeypatch.setattr(logger, "handlers", [handler])
    return lines


def raised(variant: str) -> Exception:
    try:
        own_settings(variant)
    except KeyError as error:
        return error
    raise AssertionError


def test_an_error_is_one_line_with_its_places_and_none_of_its_words(logged):
    errors.log_without_words()
    errors.log_without_words()
    error_util._log_uncaught_app_exception(raised(SECRET))
    error_util._log_uncaught_app_exception(ValueError(SECRET))
    assert logged[0].startswith("KeyError at attention/app/state/view.py:")
    assert logged[1] == "ValueError at no line of the app"
    assert not any(SECRET in line or "\n" in line for line in logged)


def test_streamlit_alone_writes_all_of_it(logged):
    """Once this fails, `attention/app/streamlit_fixes/errors.py` can go."""
    assert not config.get_option("logger.enableRich")
    error_util._log_uncaught_app_exception(raised(SECRET))
    assert SECRET in logged[0]


def test_the_box_of_an_error_has_our_words_no_traceback_and_no_link_to_another_host(monkeypatch):
    monkeypatch.setattr(exception, "_GENERIC_UNCAUGHT_EXCEPTION_TEXT", "")  # put back afterwards
    errors.show_own_words()
    box = ExceptionProto()
    exception.marshall(box, raised(SECRET), apply_show_error_details=True)
    assert (box.message, [*box.stack_trace], box.type) == (errors.ON_THE_PAGE, [], "")
    assert config.get_option("client.showErrorLinks") is False
