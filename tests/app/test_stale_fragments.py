"""Messages from a part of a page that one has left are dropped, and nothing else."""

from __future__ import annotations

import asyncio
from typing import Any

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from attention.app.streamlit_fixes.stale_fragments import only_of_the_page


def rerun(page: str, part: str = "") -> BackMsg:
    return BackMsg(rerun_script={"page_script_hash": page, "fragment_id": part})


def led_to(page: str) -> ForwardMsg:
    return ForwardMsg(navigation={"page_script_hash": page})


HEARTBEAT, DRAWN = BackMsg(app_heartbeat=True), ForwardMsg(delta={"fragment_id": "sentence"})


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


def test_a_part_of_a_page_that_was_left_is_not_run() -> None:
    told = (rerun("one"), led_to("one"), rerun("one", "p"), rerun("two"), rerun("one", "p"))
    assert received(*told) == [rerun("one"), rerun("one", "p"), rerun("two")]
    told = (rerun(""), led_to("one"), rerun("two"), rerun("one", "p"), led_to("two"))
    assert received(*told, rerun("one", "p")) == [rerun(""), rerun("two")]


def test_a_part_of_the_page_that_is_shown_is_run_whoever_led_there() -> None:
    led_by_the_server = (rerun(""), led_to("one"), DRAWN, led_to("two"), rerun("two", "p"))
    assert received(*led_by_the_server) == [rerun(""), rerun("two", "p")]
    there_and_back = (rerun("one"), rerun("two"), rerun("one"), rerun("one", "p"))
    assert received(*there_and_back) == [*there_and_back]


def test_where_a_page_is_not_known_or_not_named_all_is_received() -> None:
    told = (HEARTBEAT, rerun("one", "p"), rerun("one"), rerun("", "p"), HEARTBEAT)
    assert received(*told) == [*told]
