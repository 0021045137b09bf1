"""Let go of what is held of a visit that has ended, which Streamlit keeps."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import streamlit as st
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime import Runtime

from attention.app.state.uploads import held_files
from attention.hosting.uploads import PATH

ENDED = (1000, 1001)  # how a browser closes a websocket for good: done, or going away


class Leaving:
    """Before Streamlit: as a visit that has opened files ends, all that is held of it is let go.

    Streamlit keeps a visit for a while, since one that was cut off may come back, and then lets go
    of it when another one is cut off. One that its browser has ended does not come back.
    afterwards: what is to be done then.
    """

    def __init__(self, app: ASGIApp, afterwards: Callable[[], object]) -> None:
        self.app, self.afterwards = app, afterwards
        self.cut_off: dict[str, asyncio.TimerHandle] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "websocket":
            await self.app(scope, receive, send)
            if scope["type"] == "http" and PATH in scope["path"]:
                self._let_go_of_late_files()
            return
        visit, ended = "", False

        async def receive_noting_the_end() -> Message:
            nonlocal ended
            message = await receive()
            ended = message["type"] == "websocket.disconnect" and message.get("code") in ENDED
            return message

        async def send_noting_the_visit(message: Message) -> None:
            nonlocal visit
            if not visit and message["type"] == "websocket.send":
                told = ForwardMsg.FromString(message["bytes"])
                visit = told.new_session.initialize.session_id
            await send(message)

        try:
            await self.app(scope, receive_noting_the_end, send_noting_the_visit)
        finally:
            if visit in held_files():
                self._leave(visit, ended)

    def _leave(self, visit: str, ended: bool) -> None:
        if timer := self.cut_off.pop(visit, None):
            timer.cancel()
        kept = st.get_option("server.disconnectedSessionTTL") - 1  # Streamlit still has it then
        loop = asyncio.get_running_loop()
        self.cut_off[visit] = loop.call_later(0 if ended else kept, self._let_go, visit)

    def _let_go(self, visit: str) -> None:
        del self.cut_off[visit]
        runtime = Runtime.instance()
        if runtime.is_active_session(visit):
            return
        runtime.close_session(visit)
        runtime.uploaded_file_mgr.remove_session_files(visit)
        self.afterwards()

    def _let_go_of_late_files(self) -> None:
        """Drop files that came after their visit's end: Streamlit asks for it before they come."""
        runtime = Runtime.instance()
        for visit in held_files():
            if not (visit in self.cut_off or runtime.is_active_session(visit)):
                runtime.uploaded_file_mgr.remove_session_files(visit)
