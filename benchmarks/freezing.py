"""Requests that look costly, from 200 connections at once: how long others wait beside them.

`python -m benchmarks.freezing`. Each kind is sent for some seconds by a process of its own, always
the next as soon as one is answered; meanwhile visitors type sentences, from other addresses. What
is timed is a change of theirs until its run has finished. The first row has as many connections
that send plain requests: beside no other kind may anybody wait more than twice as long as there,
nor more than `MOST`. Everything stays on loopback.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import contextlib
import multiprocessing
import os
import signal
import sys
import time
import zlib
from collections import Counter
from collections.abc import Callable
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Event
from urllib.parse import urlencode

from attention.subjects.guide.chapters import CARRIED
from benchmarks.report import Row, table
from benchmarks.serving import APP_SCRIPT, Server, serve
from benchmarks.visitors import Found, Visitor, connected

CONNECTIONS = 200
OTHERS = 10
PAUSE = 0.5  # seconds between two changes of a visitor
PATIENCE = 20.0  # seconds for the last changes to come to their end
MOST = 0.5  # seconds
NEWLINES = base64.urlsafe_b64encode(zlib.compress(b"\n" * 239_000, 9)).decode().rstrip("=")
HEADER = ("beside", "answered", "CPU", "changes", "p50", "p95", "longest", "p95 to plain")


def get(target: str, *headers: str) -> bytes:
    """A request for a page."""
    lines = f"GET {target} HTTP/1.1", "Host: a", "Accept: text/html", *headers, "", ""
    return "\r\n".join(lines).encode("latin-1")


REQUESTS = {
    "plain requests": get("/guide"),
    "239,000 newlines packed": get(f"/guide?{urlencode({'lesson': CARRIED, 'carried': NEWLINES})}"),
    "15,000 names": get("/guide?" + "&".join(["a=1"] * 15_000)),
    "8,000 names": get("/explore?" + "&".join(f"a{number}=1" for number in range(8_000))),
    "20,000 escapes in a query": get("/guide?lesson=own&a=" + "%41" * 20_000),
    "15,000 cookies": get("/guide", "Cookie: " + "a=b;" * 15_000),
    "cookie of 30,000 escapes": get("/guide", 'Cookie: a="' + r"\a" * 30_000 + '"'),
    "5,000 proxies": get("/guide", "X-Forwarded-For: " + ", ".join(["127.0.0.1"] * 5_000)),
    "path of 60 kB": get("/" + "a/" * 30_000),
}


async def ask(port: int, request: bytes, until: float, answered: Counter[str]) -> None:
    """Send a request again and again, and count how often it is answered, by status."""
    while time.monotonic() < until:
        with contextlib.suppress(OSError, EOFError, ValueError):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            try:
                while time.monotonic() < until:
                    writer.write(request)
                    head = await reader.readuntil(b"\r\n\r\n")
                    answered[head[9:12].decode("latin-1")] += 1
                    length = head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0]
                    await reader.readexactly(int(length))
            finally:
                writer.close()


def flood(port: int, kind: str, seconds: float, begun: Event, counted: Queue[int]) -> None:
    """Send one kind from all connections for some seconds; puts how many were answered."""

    async def all_of_them() -> None:
        until = time.monotonic() + seconds
        asked = (ask(port, REQUESTS[kind], until, answered) for _ in range(CONNECTIONS))
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(asyncio.gather(*asked), seconds)

    answered: Counter[str] = Counter()
    begun.set()
    asyncio.run(all_of_them())
    counted.put(answered.total())


class Others:
    """Visitors of one address each, who open the app and type."""

    def __init__(self, port: int) -> None:
        self.port, self.found = port, Found()
        self.opened = asyncio.Barrier(OTHERS + 1)
        self.begun, self.over = asyncio.Event(), asyncio.Event()

    async def visit(self, number: int) -> None:
        """Open the app, wait for all others, and type until it is over."""
        visitor = Visitor(number, self.found, {"type": 1})
        async with connected(self.port, address=f"10.0.2.{number + 1}") as visitor.socket:
            await visitor.run(visitor.message())
            await self.opened.wait()
            await self.begun.wait()
            while not self.over.is_set():
                await asyncio.sleep(PAUSE * (0.5 + visitor.random.random()))
                start = time.perf_counter()
                try:
                    await visitor.run(visitor.change())
                finally:  # one that nobody waits for any longer counts as well
                    self.found.changes.append(time.perf_counter() - start)


async def beside(server: Server, kind: str, seconds: float) -> tuple[int, float, list[float]]:
    """Number of a kind that were answered, CPU meanwhile, and the changes, all in seconds."""
    spawned = multiprocessing.get_context("spawn")
    counted: Queue[int] = spawned.Queue()
    begun = spawned.Event()
    arguments = server.port, kind, seconds, begun, counted
    others = Others(server.port)
    visits = [asyncio.create_task(others.visit(number)) for number in range(OTHERS)]
    await others.opened.wait()
    process = spawned.Process(target=flood, args=arguments)
    process.start()
    await asyncio.to_thread(begun.wait)
    cpu = server.cpu_seconds()
    others.begun.set()
    await asyncio.to_thread(process.join)
    cpu = server.cpu_seconds() - cpu
    others.over.set()
    await asyncio.wait(visits, timeout=PATIENCE)
    os.kill(server.pid, signal.SIGKILL)  # it may have much to answer yet
    await asyncio.gather(*visits, return_exceptions=True)
    return counted.get(), cpu, sorted(others.found.changes)


def run(kinds: list[str], seconds: float, progress: Callable[[str], None]) -> tuple[str, int]:
    """The table of some kinds after the plain one, and the number that made others wait.

    CPU: that of one answer, with what the changes took.
    """
    rows: list[Row] = []
    plain, missed = 0.0, 0
    for kind in kinds:
        with serve(APP_SCRIPT) as server:
            answered, cpu, changes = asyncio.run(beside(server, kind, seconds))
        middle, high = (changes[int(part * len(changes))] for part in (0.5, 0.95))
        plain = plain or high
        missed += high > 2 * plain or high > MOST
        waits = [f"{1000 * value:,.0f} ms" for value in (middle, high, changes[-1])]
        progress(f"{kind}: {', '.join(waits)}")
        each = f"{1000 * cpu / max(1, answered):.1f} ms"
        rows.append((kind, str(answered), each, str(len(changes)), *waits, f"{high / plain:.1f} ×"))
    return table(f"{OTHERS} others, a change every {PAUSE:g} s each", HEADER, rows), missed


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.freezing", description=__doc__)
    parser.add_argument("kinds", nargs="*", help="all, if none is named", metavar="kind")
    parser.add_argument("--seconds", type=float, default=10.0, help="of each kind")
    options = parser.parse_args()
    known = [*REQUESTS]
    if unknown := set(options.kinds) - set(known):
        parser.error(f"a kind is one of {', '.join(known)}; got {', '.join(unknown)}")
    kinds = [kind for kind in known if not options.kinds or kind in options.kinds]
    told, missed = run(
        [*dict.fromkeys([known[0], *kinds])],
        options.seconds,
        lambda text: print(text, file=sys.stderr, flush=True),
    )
    print(told)
    return min(missed, 1)


if __name__ == "__main__":
    sys.exit(main())
