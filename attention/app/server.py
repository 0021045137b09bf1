"""The server's process: how it is tuned, each line with what it was measured to bring."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import gc
import sys
from collections.abc import AsyncIterator

import streamlit as st
import torch
from starlette.middleware import Middleware
from streamlit.runtime import Runtime
from streamlit.starlette import App

from attention.app.results import neighbours
from attention.app.session import load_model, load_vectors
from attention.components.answers import Gate
from attention.components.base import serve
from attention.inputs.vectors import own_vectors_path, set_aside
from attention.trained import sources

MIDDLEWARE = [Middleware(Gate)]


@st.cache_resource(show_spinner="Loading the word vectors …")
def warm_up() -> None:
    """Set the process up and load what everybody shares, once."""
    torch.set_num_threads(1)  # of four requests at once on two cores each takes 5 % less CPU
    neighbours("glove")
    load_own_vectors()
    load_models()
    serve()


def load_own_vectors() -> None:
    """Read the owner's vector file; where it cannot be read that is told, and it is not offered."""
    if path := own_vectors_path():
        try:
            load_vectors("own", _report)
            neighbours("own")
        except ValueError as error:
            set_aside(path)
            _report(str(error))


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

    That run is the first in which the components' scripts can be served, see `warm_up`. Streamlit
    waits for it no longer than a minute, and an owner's vectors may take more: they come before.
    """
    await asyncio.to_thread(load_own_vectors)
    await Runtime.instance().does_script_run_without_error()
    yield
