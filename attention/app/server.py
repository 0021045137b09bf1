"""The server's process: how it is tuned, each line with what it was measured to bring."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import gc
import signal
import sys
import threading
import time
from collections.abc import AsyncIterator

import streamlit as st
import torch
from starlette.middleware import Middleware
from streamlit.runtime import Runtime
from streamlit.starlette import App

from attention.app.results import neighbours
from attention.app.session import load_model
from attention.components.answers import Gate
from attention.components.base import serve
from attention.trained import sources

MIDDLEWARE = [Middleware(Gate)]
PATIENCE_SECONDS = 15.0  # deploy/ gives a process longer before it is killed


@st.cache_resource(show_spinner="Loading the word vectors …")
def warm_up() -> None:
    """Set the process up and load what everybody shares, once."""
    torch.set_num_threads(1)  # of four requests at once on two cores each takes 5 % less CPU
    neighbours("glove")
    load_models()
    serve()


def load_models() -> None:
    """Load all trained models; what cannot be had or read is told of, and not offered."""
    sources.fetch(_report)
    for name in sources.names()[1:]:
        try:
            load_model(name)
        except ValueError as error:
            sources.set_aside(name)
            _report(f"the model {name!r} cannot be read: {error}")


def _report(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


@st.cache_resource(show_spinner=False)
def freeze() -> None:
    """Keep the garbage collector from walking, after every rerun, what the first one made.

    To be called at the end of the frame: by then all modules are loaded and warm. With torch and
    plotly imported a rerun takes 141 ms of CPU without this, 9 ms with it.
    """
    gc.collect()
    gc.freeze()


def give_back() -> None:
    """Give memory that is free again back to the system, after every rerun.

    After 200 of the heaviest links a server held 146 MB more than before, most of it free, 55 MB
    with this. It takes 0.2 ms, after the heaviest link 10.
    """
    if trim := getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None:
        trim(0)


@contextlib.asynccontextmanager
async def lifespan(app: App) -> AsyncIterator[None]:
    """One whole page is run before the server answers anybody, so that the first visit is fast.

    That run is the first in which the components' scripts can be served, see `warm_up`.
    """
    await Runtime.instance().does_script_run_without_error()
    stop_once_idle()
    yield


def stop_once_idle() -> None:
    """Have the signal to stop wait until no run is under way and what the last one made is sent.

    The server itself would close every websocket at once. Afterwards it does, and the browsers go
    to another replica with all that is set.
    """
    stop = signal.getsignal(signal.SIGTERM)
    if not callable(stop) or sys.platform == "win32":
        return
    loop = asyncio.get_running_loop()
    waiting: list[asyncio.Task[None]] = []  # a task that nobody holds may be collected

    async def wait() -> None:
        loop.remove_signal_handler(signal.SIGTERM)
        signal.signal(signal.SIGTERM, stop)  # once more, and it stops at once
        give_up = time.monotonic() + PATIENCE_SECONDS
        idle = 0
        while idle < 3 and time.monotonic() < give_up:
            idle = 0 if _runs() else idle + 1
            await asyncio.sleep(0.1)
        stop(signal.SIGTERM, None)

    loop.add_signal_handler(signal.SIGTERM, lambda: waiting.append(loop.create_task(wait())))


def _runs() -> bool:
    """Whether a visitor's run is under way: each has a thread for as long as it lasts."""
    return any(thread.name == "ScriptRunner.scriptThread" for thread in threading.enumerate())
