"""A server that is told to stop, as plain processes: what it is doing it finishes."""

from __future__ import annotations

import asyncio
import signal
import subprocess
from pathlib import Path

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from benchmarks.visitors import Found, Visitor, connected
from tests.serving import started

# With ?stop=… in the link a run tells its own server to stop, and takes its time.
SLOW = """
import os, signal, time
import streamlit as st
if __name__ == "__main__":
    if "stop" in st.query_params:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(2)
        st.text("finished")
else:
    from streamlit.starlette import App
    from attention.app.shell import server
    app = App(__file__, **server.options())
"""


@pytest.fixture
def slow(tmp_path: Path) -> str:
    script = tmp_path / "slow.py"
    script.write_text(SLOW)
    return str(script)


def test_a_run_that_is_under_way_is_answered_before_the_server_stops(slow: str) -> None:
    async def visit(port: int) -> list[str]:
        visitor = Visitor(0, Found(), {})
        async with connected(port) as socket:
            await socket.send(visitor.message(stop="now").SerializeToString())
            texts = []
            while True:
                answer = ForwardMsg.FromString(await asyncio.wait_for(socket.recv(), 60))
                if answer.WhichOneof("type") == "script_finished":
                    return texts
                texts.append(answer.delta.new_element.text.body)

    with started(slow, subprocess.DEVNULL) as (port, process):
        assert "finished" in asyncio.run(visit(port))
        assert process.wait(timeout=60) in (0, -signal.SIGTERM)


def test_a_browser_that_looks_on_does_not_keep_a_server_from_stopping(slow: str) -> None:
    async def visit(port: int, process: subprocess.Popen[bytes]) -> None:
        visitor = Visitor(0, Found(), {})
        async with connected(port) as visitor.socket:
            await visitor.run(visitor.message())
            process.terminate()
            await asyncio.wait_for(visitor.socket.wait_closed(), 60)
            await asyncio.to_thread(process.wait, 60)

    with started(slow, subprocess.DEVNULL) as (port, process):
        asyncio.run(visit(port, process))
