"""Traces of opened files on a real server as their visitors go."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable, Iterator

import numpy
import pytest

from benchmarks.openers import Opener
from benchmarks.serving import Server
from tests.serving import started
from tests.subjects.long_run.test_own_weights import saved

NO_ROOM, NOT_HELD = "there is no room for it", "does not hold it any more"
KEPT_SECONDS = 10
PATIENCE_SECONDS = 60


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A server that has 40 MB for files, and keeps a visit that is cut off for some seconds."""
    limits = {
        "ATTENTION_LIMITS": "uploads=40",
        "STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL": str(KEPT_SECONDS),
    }
    app = "streamlit_app.py"
    with tempfile.TemporaryFile("a+") as log, started(app, log, **limits) as (port, process):
        yield Server(port, process.pid, log)


def file_of(megabytes: float) -> bytes:
    """A file that has so many, packed or not: even weights of 64 tokens over 64."""
    heads = round(megabytes * (1 << 20) / (64 * 64 * 4))
    weights = numpy.full((heads, 64, 64), 1 / 64, dtype=numpy.float32)
    return saved(numpy.savez, weights=weights, tokens=numpy.array(["token"] * 64))


def shows(visit: Opener) -> bool:
    """True if the last run has drawn what is in a file."""
    return "picture" in visit.widgets


async def until(holds: Callable[[], Awaitable[bool]]) -> None:
    """Wait for something that is asked for again and again."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not await holds():
            await asyncio.sleep(0.2)


def test_who_leaves_frees_the_room_of_an_address_at_once_and_who_comes_late_is_told(server):
    async def story() -> None:
        content = file_of(9)  # as it is and as it is read: 18 MB of the 20 of one address
        async with Opener(server.port) as second:
            async with Opener(server.port) as first:
                await first.open(content)
                assert shows(first), first.notes
                await second.open(content)
                assert NO_ROOM in second.notes[0]

            async def opens() -> bool:
                await second.open(content)
                return shows(second)

            async with asyncio.timeout(KEPT_SECONDS - 2):
                await until(opens)

    asyncio.run(story())


def test_who_is_cut_off_may_come_back_to_an_opened_file_for_a_while(server):
    async def story() -> None:
        content = file_of(9)
        async with Opener(server.port) as visit:
            await until(lambda: opens(visit, content))
            again = visit.last
            visit.socket.transport.abort()
            await visit.connect()
            await visit.run(again)
            assert shows(visit), visit.notes
            visit.socket.transport.abort()
            async with Opener(server.port) as another:
                await until(lambda: opens(another, content))
                await visit.connect()
                await visit.run(again)
                assert NOT_HELD in visit.notes[0]

    async def opens(visit: Opener, content: bytes) -> bool:
        await visit.open(content)
        return shows(visit)

    asyncio.run(story())
