"""The files that visitors open: read once, counted while they are held, let go as a visit ends."""

from __future__ import annotations

import asyncio
import functools
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import streamlit as st
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime import Runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.typing import UploadedFile

from attention.analysis.glances import Glance, glance_of
from attention.app.results import example_weights
from attention.capture.files import open_recording
from attention.core.limits import limits
from attention.display.opened_run import RUN_VARIABLE, OpenedRun, opened_run
from attention.display.showing import OpenedWeights, read_own, unpacked_bytes
from attention.hosting.uploads import PATH, NoRoom, Taken, Uploads

ENDED = (1000, 1001)  # how a browser closes a websocket for good: done, or going away


@dataclass(frozen=True, eq=False)
class Opened:
    """The weights or the run of a file, and the room that they take."""

    weights: OpenedWeights | OpenedRun
    taken: Taken | None = None

    @functools.cached_property
    def glance(self) -> Glance:
        """All heads at a glance: of hundreds in a long run the work of seconds."""
        read = self.weights
        return glance_of(read.each(), read.shape[0], read.crosses)


@functools.cache
def uploads() -> Uploads:
    """The room that this process has for opened files."""
    return Uploads(limits().uploads, _files)


def _files() -> dict[str, int]:
    """Number of bytes that Streamlit holds of the files of each visit."""
    stored: Any = Runtime.instance().uploaded_file_mgr
    return {
        visit: sum(len(file.data) for file in [*files.values()])
        for visit, files in [*stored.file_storage.items()]
    }


def example() -> Opened:
    """The example, without a file."""
    return Opened(read_own(example_weights()))


def has_owners_run() -> bool:
    """True if whoever serves this app has named a run."""
    return bool(os.environ.get(RUN_VARIABLE))


@st.cache_resource(show_spinner="Reading the run")
def owners_run() -> Opened | None:
    """The run that whoever serves this app shows, None without one.

    Raises ValueError, in words, where it cannot be read.
    """
    path = os.environ.get(RUN_VARIABLE)
    if not path:
        return None
    try:
        run = open_recording(path)
    except OSError as error:
        raise ValueError(f"the file of {RUN_VARIABLE} cannot be read") from error
    return Opened(opened_run(run, bounded=False))


def own_file() -> Opened | None:
    """Read the file that a visitor has opened, None without one.

    Raises ValueError, in words, where it cannot be shown. To be called after the uploader with the
    key `own_file` is drawn.
    """
    file = st.session_state.get("own_file")
    if file is None:
        _read.clear()
        return None
    if isinstance(file, UploadedFile):
        file.close()  # its bytes are Streamlit's to hold; a visit is kept longer than they are
    context = get_script_run_ctx()
    assert context is not None
    found = _read(file.file_id, context.session_id)
    if isinstance(found, str):
        raise ValueError(found)
    return found


# Streamlit lets go of it as the visit is cut off, or another file is opened.
@st.cache_resource(scope="session", max_entries=1, show_spinner=False)
def _read(file: str, visit: str) -> Opened | str:
    """Read a file, or tell why it cannot be shown: either way it is read once."""
    context = get_script_run_ctx()
    assert context is not None
    held = context.uploaded_file_mgr.get_files(visit, [file])
    if not held:
        raise ValueError(uploads().why_missing(file))
    content = held[0].data
    try:
        taken = uploads().take(visit, unpacked_bytes(content))
        weights = read_own(content)
    except NoRoom:  # there may be some later
        raise
    except ValueError as error:
        return str(error)
    return Opened(weights, taken)


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
            if visit in _files():
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
        for visit in _files():
            if not (visit in self.cut_off or runtime.is_active_session(visit)):
                runtime.uploaded_file_mgr.remove_session_files(visit)
