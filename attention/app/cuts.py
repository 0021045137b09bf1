"""A page that comes back after its connection was cut is sent whole runs only."""

from __future__ import annotations

import asyncio

from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

ASK = BackMsg(app_heartbeat=True).SerializeToString()
PAUSE, MOST_ASKED = 0.02, 100  # seconds, times


class WholeRuns:
    """Before Streamlit: what a page gets that comes back."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket" and comes_back(HTTPConnection(scope)):
            receive, send = only_whole_runs(receive, send)
        await self.app(scope, receive, send)


def comes_back(connection: HTTPConnection) -> bool:
    """Whether a websocket goes on with a session: Streamlit's page names it after two others."""
    names = connection.headers.get("sec-websocket-protocol", "").split(",")
    return len(names) > 2 and names[2].strip() != ""


def only_whole_runs(receive: Receive, send: Send) -> tuple[Receive, Send]:
    """Receives and sends for a page that has come back.

    A run that was cut is stopped, but Streamlit sends its end later as that of a whole one. The
    page then takes away all that this run has not drawn, with what was set and typed there. What
    is left of it comes before the answer to a heartbeat, so we ask for one before the page may ask
    for a run; again, since Streamlit forgets the question where the run begins only now.
    """
    awaited = ["heartbeat_ack", "new_session"]
    asked = -1

    async def receive_after_asking() -> Message:
        nonlocal asked
        asked += 1
        if asked > MOST_ASKED:
            awaited.clear()
        if asked == 0 or len(awaited) < 2:
            return await receive()
        if asked > 1:
            await asyncio.sleep(PAUSE)
        return {"type": "websocket.receive", "bytes": ASK}

    async def send_whole_runs(message: Message) -> None:
        if awaited and message["type"] == "websocket.send":
            kind = ForwardMsg.FromString(message["bytes"]).WhichOneof("type")
            if kind == awaited[0]:
                awaited.pop(0)
            if kind != "new_session" or awaited:
                return
        await send(message)

    return receive_after_asking, send_whole_runs
