"""Drop messages from parts of a page that one has left: see docs/upstream.md."""

from __future__ import annotations

from starlette.types import Message, Receive, Send
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

MAX_NAVIGATION = 1 << 15  # bytes; the message that names the page takes some 4,000


def only_of_the_page(receive: Receive, send: Send) -> tuple[Receive, Send]:
    """Receives and sends for one visit, of whose page the browser or the server has told last."""
    page = ""

    async def receive_of_the_page() -> Message:
        nonlocal page
        while (message := await receive())["type"] == "websocket.receive":
            asked = BackMsg.FromString(message["bytes"]).rerun_script
            if not asked.fragment_id:
                page = asked.page_script_hash or page
            if not (asked.fragment_id and page) or asked.page_script_hash in ("", page):
                break
        return message

    async def send_noting_the_page(message: Message) -> None:
        nonlocal page
        told = message.get("bytes") or b""
        if len(told) < MAX_NAVIGATION:
            page = ForwardMsg.FromString(told).navigation.page_script_hash or page
        await send(message)

    return receive_of_the_page, send_noting_the_page
