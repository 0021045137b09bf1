"""A server that is told to stop, as plain processes: what it is doing it finishes."""

from __future__ import annotations

import asyncio
import signal
import subprocess

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from benchmarks.visitors import Found, Visitor, connected
from tests.serving import started

pytestmark = pytest.mark.soak

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


def test_a_run_under_way_is_answered_before_the_server_stops_which_no_browser_keeps_from_it(
    tmp_path,
):
    """Another browser, which looks on, stays connected throughout."""

    async def visit(port: int, process: subprocess.Popen[bytes]) -> list[str]:
        looks_on, asks, texts = Visitor(0, Found(), {}), Visitor(1, Found(), {}), list[str]()
        async with connected(port) as looks_on.socket, connected(port) as socket:
            await looks_on.run(looks_on.message())
            await socket.send(asks.message(stop="now").SerializeToString())
            answer = ForwardMsg()
            while answer.WhichOneof("type") != "script_finished":
                answer = ForwardMsg.FromString(await asyncio.wait_for(socket.recv(), 60))
                texts.append(answer.delta.new_element.text.body)
            await asyncio.wait_for(looks_on.socket.wait_closed(), 60)
            await asyncio.to_thread(process.wait, 60)
        return texts

    script = tmp_path / "slow.py"
    script.write_text(SLOW)
    with started(str(script), subprocess.DEVNULL) as (port, process):
        assert "finished" in asyncio.run(visit(port, process))
        assert process.returncode in (0, -signal.SIGTERM)
