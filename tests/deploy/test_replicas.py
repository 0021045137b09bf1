"""Admission control behind nginx, as both are deployed, before a server that only answers."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager
from email.message import Message
from functools import partial
from pathlib import Path
from unittest.mock import ANY

import pytest
import websockets
import yaml

from attention.core.limits import LIMITS_VARIABLE
from attention.hosting.admission import QUEUE_PATH
from attention.hosting.waiting_page import COOKIE
from tests.deploy.replicas import DEPLOY, cookies_for, find_nginx, in_front_of
from tests.serving import ROOT, free_port, read, wait_until_healthy

pytestmark = [pytest.mark.soak, pytest.mark.skipif(find_nginx() is None, reason="needs nginx")]

# Says its own port to whoever gets past admission, and by websocket what it hears; the files of a
# session are taken where a websocket has named it.
REPLICA = """
import sys

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute

from attention.core.limits import limits
from attention.hosting import admission_queue
from attention.hosting.admission import Admission
from attention.hosting.uploads import UploadLimit, Uploads

port, sessions = sys.argv[1], set()
admission_queue.RESERVED_SECONDS = 3.0

def health(request):
    return PlainTextResponse("ok")

def page(request):
    return PlainTextResponse(f"{port} {request.client.host}")

async def stream(websocket):
    await websocket.accept()
    async for text in websocket.iter_text():
        sessions.add(text)
        await websocket.send_text(port)

app = Starlette(
    routes=[
        Route("/_stcore/health", health),
        WebSocketRoute("/_stcore/stream", stream),
        Route("/{path:path}", page, methods=["GET", "PUT"]),
    ],
    middleware=[
        Middleware(UploadLimit, uploads=Uploads(8, dict), is_here=sessions.__contains__),
        Middleware(Admission, limits=limits(), is_kept=sessions.__contains__),
    ],
)

if __name__ == "__main__":
    import uvicorn

    uvicorn.run(app, port=int(port), access_log=False)
"""
FORM = "multipart/form-data; boundary=x"
TRUSTED = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["x-app"]["environment"]


class Replicas:
    """The address of nginx, and a cookie that leads to each replica by its port."""

    def __init__(self, address: str, cookies: dict[int, str]) -> None:
        self.address, self.cookies, self.ports = address, cookies, [*cookies]

    def get(self, path: str = "/", method: str = "GET", **headers: str) -> tuple[int, str, Message]:
        """The answer to a browser: its status, text and headers."""
        headers = {"accept": "text/html", "content_type": FORM} | headers
        return read(self.address + path, method, **headers)

    @asynccontextmanager
    async def visit(self, cookie: str, session: str = "a session") -> AsyncIterator[int | None]:
        """A tab that is open: the port of the replica it is on, None where it is refused."""
        address = self.address.replace("http:", "ws:") + "/_stcore/stream"
        try:
            tab = await websockets.connect(address, additional_headers={"Cookie": cookie})
        except websockets.InvalidStatus as refused:
            if refused.response.status_code != 403:
                raise
            yield None
            return
        async with tab:
            await tab.send(session)
            yield int(await tab.recv())


@contextmanager
def replicas(folder: Path, limits: str, count: int = 1, proxy: str = "") -> Iterator[Replicas]:
    """So many replicas with those limits behind nginx, each with the environment of compose."""
    script = folder / "replica.py"
    script.write_text(REPLICA)
    environment = {"PYTHONPATH": str(ROOT), LIMITS_VARIABLE: limits, **TRUSTED}
    ports = [free_port() for _ in range(count)]
    with ExitStack() as stack, ThreadPoolExecutor() as pool:
        processes = [
            stack.enter_context(
                subprocess.Popen([sys.executable, script, str(port)], env=environment)
            )
            for port in ports
        ]
        for process in processes:
            stack.callback(process.terminate)
        addresses = [f"http://127.0.0.1:{port}" for port in ports]
        [*pool.map(wait_until_healthy, addresses, processes)]
        address = stack.enter_context(in_front_of(ports, folder, proxy))
        cookies = cookies_for(address, folder, ports)
        yield Replicas(address, {port: f"replica={cookies[port]}" for port in ports})


def test_a_forged_header_in_front_changes_nothing(tmp_path):
    with replicas(tmp_path, "requests=2") as nginx:
        begun = time.monotonic()
        for sent in ("203.0.113.9", "203.0.113.9, 198.51.100.7", "127.0.0.1"):
            text = nginx.get("/", x_forwarded_for=sent)[1]
            assert text == f"{nginx.ports[0]} 127.0.0.1"
        forged = [nginx.get("/", x_forwarded_for=f"10.9.8.{n}")[0] for n in range(1, 200)]
        passed = 3 + forged.count(200)
        assert 0 < passed <= 20 + 2 * (time.monotonic() - begun) + 1
        assert set(forged) == {200, 429}


def test_a_proxy_before_nginx_that_is_named_says_whose_each_request_is(tmp_path):
    with replicas(tmp_path, "", proxy="127.0.0.1") as nginx:
        for sent, seen in (
            ("198.51.100.7", "198.51.100.7"),
            ("203.0.113.9, 198.51.100.7", "198.51.100.7"),
            ("203.0.113.9, 198.51.100.7, 127.0.0.1", "198.51.100.7"),
        ):
            assert nginx.get("/", x_forwarded_for=sent)[1] == f"{nginx.ports[0]} {seen}"


def test_visitors_who_are_led_to_a_full_replica_get_the_next_one(tmp_path):
    async def story(nginx: Replicas) -> None:
        here, there = nginx.ports
        cookie = nginx.cookies[here]
        async with AsyncExitStack() as tabs:
            for number in range(3):
                tab = nginx.visit(cookie, f"early {number}")
                assert await tabs.enter_async_context(tab) == here
            for number in range(5):  # more often than nginx lets a server fail
                status, text, _ = await asyncio.to_thread(nginx.get, "/", cookie=cookie)
                assert (status, text) == (200, f"{there} 127.0.0.1")
                async with nginx.visit(cookie, f"late {number}") as port:
                    assert port == there
                    for method in ("PUT", "GET"):
                        path = f"/_stcore/upload_file/late {number}/file".replace(" ", "%20")
                        answer = await asyncio.to_thread(nginx.get, path, method, cookie=cookie)
                        assert answer[:2] == (200, f"{there} 127.0.0.1")
            answer = await asyncio.to_thread(nginx.get, "/picture", accept="image", cookie=cookie)
            assert answer[1] == f"{here} 127.0.0.1", "who has a place there is still led there"
        gone = await asyncio.to_thread(nginx.get, "/_stcore/upload_file/none/file", "PUT")
        assert gone[0] == 404

    with replicas(tmp_path, "sessions=3 address=100", 2) as nginx:
        asyncio.run(story(nginx))


def test_where_all_replicas_are_full_a_visitor_waits_for_the_first_place_in_any(tmp_path):
    async def story(nginx: Replicas) -> None:
        here, there = nginx.ports
        led = nginx.cookies[here]
        async with nginx.visit(led) as stays, AsyncExitStack() as leaves:
            goes = await leaves.enter_async_context(nginx.visit(nginx.cookies[there]))
            assert (stays, goes) == (here, there)
            status, text, headers = await asyncio.to_thread(nginx.get, "/", cookie=led)
            assert (status, "are taken at the moment" in text) == (403, True)
            kept = f"{led}; {re.search(rf'{COOKIE}=[^;]+', str(headers))[0]}"
            asked = partial(asyncio.to_thread, nginx.get, QUEUE_PATH, cookie=kept)
            assert await asked() == (403, '{"place":1}', ANY)
            async with nginx.visit(kept) as refused:
                assert refused is None
            await leaves.aclose()
            until = time.monotonic() + 60  # the place is kept a while for who left
            while (await asked())[0] == 403 and time.monotonic() < until:
                await asyncio.sleep(0.1)
            assert (await asyncio.to_thread(nginx.get, "/", cookie=kept))[1].startswith(f"{there} ")
            async with nginx.visit(led) as passing, nginx.visit(kept) as called:
                assert (passing, called) == (None, there)

    with replicas(tmp_path, "sessions=1", 2) as nginx:
        asyncio.run(story(nginx))


@pytest.mark.parametrize(
    "path", ["/metrics", "/_stcore/metrics", "/_stcore/metrics/", "/a/metrics"]
)
def test_metrics_are_closed_by_nginx_too(tmp_path, path):
    with in_front_of([free_port()], tmp_path) as address:  # of which nobody would answer
        assert read(address + path)[0] == 404
