"""Many tabs of one address that each have a long sentence worked out, beside others.

The others are one who has a short sentence worked out, from another address, and some who only
explore. At last many addresses come in at once, with a tab each, beside the same. Everything stays
on loopback: addresses are told as by a proxy there.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import random
import statistics
import time
from collections.abc import Awaitable
from urllib.parse import urlencode

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from benchmarks.report import table
from benchmarks.serving import APP_SCRIPT, TEXT, serve
from benchmarks.visitors import Found, Visitor, connected

MODEL, SHORT = "smollm2", "she likes green tea"
OTHER, EXPLORERS = "10.0.0.2", 5  # of one address each, from 10.0.1.0 on
NEWCOMERS = 200
AGAIN = ForwardMsg.FINISHED_EARLY_FOR_RERUN  # the whole page runs anew
KINDS = {"type": 12, "token": 3}
HEADER = ("beside", "explorers p50", "p95", "short sentence after", "long ones done", "of")


class Tab(Visitor):
    """A visit to the model window that asks again, as a browser does, until all is worked out."""

    def __init__(self, number: int, found: Found) -> None:
        super().__init__(number, found, KINDS)
        self.timers: dict[str, float] = {}

    def note(self, answer: ForwardMsg) -> None:
        """Keep the fragments that are to be run again, with their seconds."""
        match answer.WhichOneof("type"):
            case "auto_rerun":
                self.timers[answer.auto_rerun.fragment_id] = answer.auto_rerun.interval
            case "stop_auto_rerun":
                for name in answer.stop_auto_rerun.fragment_ids:
                    self.timers.pop(name, None)
            case "script_finished" if answer.script_finished == AGAIN:
                self.timers.clear()

    async def work_out(self, port: int, sentence: str, address: str) -> float:
        """Open the window on a sentence; seconds until the effects of all heads are there."""
        self.page = await page_named("model", port)
        begun = time.monotonic()
        async with connected(port, address=address) as self.socket:
            link = {"s": sentence, "model": MODEL}
            await self.run(self.message(**link))
            while self.timers:
                name, wait = next(iter(self.timers.items()))
                await asyncio.sleep(wait)
                message = BackMsg()
                message.rerun_script.query_string = urlencode(link)
                message.rerun_script.page_script_hash = self.page
                message.rerun_script.fragment_id = name
                await self.run(message)
        return time.monotonic() - begun


async def page_named(name: str, port: int) -> str:
    """Hash by which a message asks for a page, as another visit has been told it."""
    first = Visitor(0, Found(), KINDS)
    async with connected(port, address=OTHER) as first.socket:
        await first.run(first.message())
    return next(page for page, known in first.names.items() if known == name)


async def beside(port: int, tabs: int, words: int, seconds: float, seed: int) -> list[str]:
    """A row of the table: so many tabs with sentences of so many words, for some seconds."""
    draw, found = random.Random(f"{seed} {tabs} {words}"), Found()
    until = time.monotonic() + seconds

    async def long() -> float:
        sentence = " ".join(draw.choices(TEXT.split(), k=words))
        return await Tab(draw.randrange(10**6), Found()).work_out(port, sentence, "10.0.0.1")

    async def short() -> float:
        await asyncio.sleep(5.0)  # the others have begun
        return await Tab(0, Found()).work_out(port, f"{SHORT} {seed} {tabs}", OTHER)

    async def within(work: Awaitable[float]) -> float:
        try:
            return await asyncio.wait_for(work, max(0.1, until - time.monotonic()))
        except TimeoutError:
            return math.inf

    waits, _ = await asyncio.gather(
        asyncio.gather(within(short()), *(within(long()) for _ in range(tabs))),
        explore(port, until, found),
    )
    first, *others = waits
    return [
        f"{tabs} tabs × {words} words" if tabs else "nobody",
        *percentiles(found),
        f"{first:.1f} s",
        str(sum(math.isfinite(wait) for wait in others)),
        str(tabs),
    ]


async def explore(port: int, until: float, found: Found) -> None:
    """Have some change something every few seconds, each from an address of their own."""
    explorers = [Visitor(number, found, KINDS) for number in range(EXPLORERS)]
    await asyncio.gather(
        *(each.visit(port, until, 3.0, f"10.0.1.{n}") for n, each in enumerate(explorers))
    )


def percentiles(found: Found) -> tuple[str, str]:
    """The median and the 95th percentile of changes."""
    if found.errors:
        print(found.errors.most_common(2))
    changes = sorted(found.changes)
    chosen = statistics.median(changes), changes[int(0.95 * len(changes))]
    return f"{1000 * chosen[0]:.0f} ms", f"{1000 * chosen[1]:.0f} ms"


async def crowd(port: int, seconds: float) -> list[str]:
    """A row of another table: explorers, and the first pages of those who come in at once."""
    found, come = Found(), Found()
    exploring = asyncio.create_task(explore(port, time.monotonic() + seconds, found))
    await asyncio.sleep(5.0)  # these have their first pages
    newcomers = [Visitor(EXPLORERS + number, come, KINDS) for number in range(NEWCOMERS)]
    await asyncio.gather(
        *(each.visit(port, 0.0, 1.0, f"10.1.0.{n}") for n, each in enumerate(newcomers))
    )
    await exploring
    firsts = [f"{value:.1f} s" for value in (statistics.median(come.first), max(come.first))]
    return [f"{NEWCOMERS} addresses", *percentiles(found), *firsts, str(come.errors.total())]


def main() -> None:
    """Measure nobody, a few tabs and many of them, beside the same others."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fairness", description=__doc__)
    parser.add_argument("--seconds", type=float, default=100.0)

    options = parser.parse_args()
    rows = []
    for tabs, words, seconds in (
        (0, 0, 45.0),
        (20, 30, options.seconds),
        (50, 60, options.seconds),
    ):
        with serve(APP_SCRIPT) as server:
            asyncio.run(Tab(1, Found()).work_out(server.port, "warm it", OTHER))
            rows.append(asyncio.run(beside(server.port, tabs, words, seconds, 1)))
        print(rows[-1], flush=True)
    print(table("One address that has much worked out, and others", HEADER, rows))
    with serve(APP_SCRIPT) as server:
        rows = [asyncio.run(crowd(server.port, 45.0))]
    header = (*HEADER[:3], "first page p50", "longest", "errors")
    print(table("Many addresses that come in at once, and others", header, rows))


if __name__ == "__main__":
    main()
