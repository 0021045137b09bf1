"""The server, once it says that it is healthy."""

from __future__ import annotations

import asyncio
import urllib.request
from pathlib import Path

import plotly

from attention.app import server
from benchmarks.visitors import Found, Visitor, connected
from tests.serving import serving


def test_a_healthy_server_serves_a_page_and_what_it_loads() -> None:
    async def visit(port: int) -> None:
        visitor = Visitor(0, Found(), {})
        async with connected(port) as visitor.socket:
            await visitor.run(visitor.message())
            assert "picture" in visitor.widgets

    with serving() as address:
        name = "component/attention.components.base.plotly_js/plotly.min.js"
        with urllib.request.urlopen(f"{address}/{name}") as answer:
            script = Path(plotly.__file__).parent / "package_data/plotly.min.js"
            assert answer.read() == script.read_bytes()
        asyncio.run(visit(int(address.rsplit(":", 1)[1])))


def test_the_page_is_run_within_the_lifespan(monkeypatch) -> None:
    done: list[str] = []

    class Running:
        async def does_script_run_without_error(self) -> None:
            done.append("ran")

    monkeypatch.setattr(server.Runtime, "instance", Running)

    async def start() -> None:
        async with server.lifespan(None):
            assert done == ["ran"]

    asyncio.run(start())
