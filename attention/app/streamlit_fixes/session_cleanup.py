"""Let go of what is held of a visit that has ended: see docs/upstream.md."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import streamlit as st
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime import Runtime

from attention.app.state.uploads import held_files

ENDED = (1000, 1001)  # how a browser closes a websocket for good: done, or going away


class SessionCleanup:
    """Before Streamlit: as a visit with files ends, or was cut off for long, nothing is held of it.

    afterwards: what is to be done then.
    """

    def __init__(self, app: ASGIApp, afterwards: Callable[[], object]) -> None:
        self.app, self.afterwards = app, afterwards
        self.cut_off: dict[str, asyncio.TimerHandle] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "websocket":
            return await self.app(scope, receive, send)
        visit, ended = "", False

        async def receive_noting_the_end() -> Message:
            nonlocal ended
            message = await receive()
            ended = message["type"] == "websocket.disconnect" and message.get("code") in ENDED
            return message

        async def send_noting_the_visit(message: Message) -> None:
            nonlocal visit
            if not visit and message["type"] == "websocket.send":
                visit = ForwardMsg.FromString(message["bytes"]).new_session.initialize.session_id
            await send(message)

        try:
            await self.app(scope, receive_noting_the_end, send_noting_the_visit)
        finally:
            if visit in held_files():
                if timer := self.cut_off.pop(visit, None):
                    timer.cancel()
                kept = st.get_option("server.disconnectedSessionTTL") - 1  # it is still there then
                later = asyncio.get_running_loop().call_later
                self.cut_off[visit] = later(0 if ended else kept, self._let_go, visit)

    def _let_go(self, visit: str) -> None:
        del self.cut_off[visit]
        if not (runtime := Runtime.instance()).is_active_session(visit):
            runtime.close_session(visit)
            runtime.uploaded_file_mgr.remove_session_files(visit)
            self.afterwards()
