"""Admission control before Streamlit's own server, as plain processes."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Iterator

import pytest
import websockets
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from benchmarks.visitors import Found, Visitor, connected
from tests.serving import read, started

HOST = "http://127.0.0.1"

SCRIPT = """
import streamlit as st
if __name__ == "__main__":
    st.text("a page")
else:
    from streamlit.starlette import App
    from attention.app.shell import server
    from attention.hosting import admission
    admission.FIRST_MESSAGE_SECONDS = 2.0
    app = App(__file__, **server.options())
"""


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """Port of a server of two places, one for each address."""
    script = tmp_path_factory.mktemp("served") / "page.py"
    script.write_text(SCRIPT)
    with started(str(script), subprocess.DEVNULL, ATTENTION_LIMITS="sessions=2") as (port, _):
        yield port


def sessions(port: int) -> str:
    """Number of visits Streamlit knows of."""
    lines = read(f"{HOST}:{port}/_stcore/metrics?families=active_sessions")[1].splitlines()
    return next(line for line in lines if line.startswith("active_sessions"))


@pytest.mark.parametrize(
    "path", ["/metrics", "/_stcore/metrics", "/_stcore/metrics/", "/_stcore/%6detrics"]
)
def test_metrics_are_read_at_the_server_itself_alone(port, path):
    status, text, _ = read(f"{HOST}:{port}{path}")
    assert (status, "# TYPE" in text) == (200, True)
    for named in ("X_Forwarded_For", "X_Real_IP", "Via"):
        assert read(f"{HOST}:{port}{path}", **{named: "203.0.113.7"})[:2] == (404, "Not found")


def test_a_page_that_connects_again_has_its_session_though_it_says_nothing(port):
    async def story() -> None:
        async with connected(port) as first:
            await first.send(Visitor(0, Found(), {}).message().SerializeToString())
            answer = ForwardMsg.FromString(await asyncio.wait_for(first.recv(), 60))
            session = answer.new_session.initialize.session_id
        # As Streamlit's page says which session it had.
        protocols = [websockets.Subprotocol(word) for word in ("streamlit", "token", session)]
        address = f"ws://127.0.0.1:{port}/_stcore/stream"
        async with websockets.connect(address, subprotocols=protocols):
            assert await asyncio.to_thread(sessions, port) == "active_sessions 1"

    asyncio.run(story())
