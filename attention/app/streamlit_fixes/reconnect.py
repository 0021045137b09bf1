"""After a reconnect, drop messages of the interrupted run: see docs/upstream.md."""

from __future__ import annotations

import asyncio

from starlette.requests import HTTPConnection
from starlette.types import Message, Receive, Send
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

ASK = BackMsg(app_heartbeat=True).SerializeToString()
PAUSE, MOST_ASKED = 0.02, 100  # seconds, times


def comes_back(connection: HTTPConnection) -> bool:
    """True if a websocket goes on with a session: Streamlit's page names it after two others."""
    names = connection.headers.get("sec-websocket-protocol", "").split(",")
    return any(map(str.strip, names[2:]))


def only_whole_runs(receive: Receive, send: Send) -> tuple[Receive, Send]:
    """Receives and sends for a page that has come back.

    What is left of the interrupted run comes before the answer to a heartbeat, so we ask for one
    first; again, since Streamlit forgets the question where that run begins only now.
    """
    awaited, asked = ["heartbeat_ack", "new_session"], -1

    async def receive_after_asking() -> Message:
        nonlocal asked
        asked += 1
        if asked > MOST_ASKED:
            awaited.clear()
        if asked == 0 or len(awaited) < 2:
            return await receive()
        await asyncio.sleep(PAUSE if asked > 1 else 0)
        return {"type": "websocket.receive", "bytes": ASK}

    async def send_whole_runs(message: Message) -> None:
        if awaited and message["type"] == "websocket.send":
            if ForwardMsg.FromString(message["bytes"]).WhichOneof("type") == awaited[0]:
                awaited.pop(0)
            if awaited:
                return
        await send(message)

    return receive_after_asking, send_whole_runs
