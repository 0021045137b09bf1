"""A real server and a real browser for the tests that need what a person really sees."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from email.message import Message
from pathlib import Path
from typing import IO

ROOT = Path(__file__).parent.parent


@contextlib.contextmanager
def serving(script: str = "streamlit_app.py", **variables: str) -> Iterator[str]:
    """Serve the app on a free port for as long as the context lasts; gives its address.

    variables: of the environment, which it has besides. Its log stands in the report of a test that
    fails.
    """
    with started(script, None, **variables) as (port, _):
        yield f"http://127.0.0.1:{port}"


@contextlib.contextmanager
def started(
    script: str, log: int | IO[str] | None, **variables: str
) -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    """A script served by Streamlit, once it is healthy: its port and its process."""
    command = [sys.executable, "-m", "streamlit", "run", script]
    with running(command, log, environment=os.environ | variables) as served:
        yield served


@contextlib.contextmanager
def running(
    command: list[str],
    log: int | IO[str] | None,
    folder: Path = ROOT,
    environment: Mapping[str, str] | None = None,
) -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    """A command that serves by Streamlit, in a folder, once it is healthy: its port and process."""
    port = free_port()
    options = {
        "server.port": port,
        "server.address": "127.0.0.1",
        "server.headless": "true",
        "server.fileWatcherType": "none",
        "browser.gatherUsageStats": "false",
    }
    flags = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    process = subprocess.Popen(
        [*command, *flags], cwd=folder, env=environment, stdout=log, stderr=log
    )
    try:
        wait_until_healthy(f"http://127.0.0.1:{port}", process)
        yield port, process
    finally:
        process.terminate()
        process.wait(timeout=120)


def read(address: str, method: str = "GET", **headers: str) -> tuple[int, str, Message]:
    """The status, text and headers of an answer; headers: of the request, with _ for -."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    body = b"" if method == "PUT" else None
    request = urllib.request.Request(address, body, named, method=method)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, answer.read().decode(), answer.headers
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode(), error.headers


def free_port() -> int:
    """A port of this machine that nobody has."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_until_healthy(
    address: str, process: subprocess.Popen[bytes], health: str = "_stcore/health"
) -> None:
    """Return once the server answers; raise when it stops or takes two minutes."""
    for _ in range(1200):
        if process.poll() is not None:
            raise RuntimeError(f"the server stopped with exit code {process.returncode}")
        with (
            contextlib.suppress(urllib.error.URLError, ConnectionError, TimeoutError),
            urllib.request.urlopen(f"{address}/{health}", timeout=5) as answer,
        ):
            if answer.status == 200:
                return
        time.sleep(0.1)
    raise RuntimeError("the server did not get healthy within two minutes")
