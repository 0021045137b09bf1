"""Two shortened days of mixed visitors, after which the server must be as it was.

Each day single visitors come, lectures come at once and leave at once, and few are there between
them. Memory, threads, open files and sessions of the process are read while the visitors of each
part are there, and at night, when all have left. Streamlit keeps the sessions of up to 128 visitors
who have left for two minutes, and forgets them when the next one leaves: that is awaited, and one
more visitor looks in. The first day fills what is kept for all, which is bounded; the second night
is held against the first.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass

import psutil

from benchmarks.report import TARGETS, Row, at_most, table
from benchmarks.serving import APP_SCRIPT, Server, serve
from benchmarks.visitors import CHANGES, Found, visits

KEPT_SECONDS = 125  # Streamlit forgets a visitor who has left after 120
MIN_MINUTES, MAX_MINUTES = 5.0, 60.0
SETTLE_SECONDS = 15.0
HEADER = ("", "visitors", "changes", "errors", "memory", "threads", "files", "sessions")
# How much more the second night may have than the first.
MORE_MEGABYTES, MORE_THREADS, MORE_FILES, MORE_SESSIONS = 20.0, 2.0, 2.0, 0.0


@dataclass(frozen=True)
class Part:
    """A part of the day: visitors who come within the ramp, stay, and leave; shares of the day."""

    name: str
    visitors: int
    ramp: float
    stay: float


DAY = (
    Part("morning", 10, 0.15, 0.05),
    Part("a lecture", 60, 0.05, 0.2),
    Part("quiet", 3, 0.0, 0.2),
    Part("another lecture", 60, 0.05, 0.2),
    Part("evening", 5, 0.0, 0.1),
)
PASSER_BY = Part("night", 1, 0.0, 0.0)


@dataclass(frozen=True)
class State:
    """State of a server: memory in megabytes, threads, open files, visitors who are there."""

    memory: float
    threads: int
    files: int
    sessions: int

    @property
    def cells(self) -> Row:
        return f"{self.memory:.0f} MB", str(self.threads), str(self.files), str(self.sessions)


def state_of(server: Server) -> State:
    """State of a server now. Streamlit itself tells of its sessions."""
    address = f"http://127.0.0.1:{server.port}/_stcore/metrics?families=active_sessions"
    with urllib.request.urlopen(address) as answer:
        lines = answer.read().decode().splitlines()
    sessions = next(line.split()[1] for line in lines if line.startswith("active_sessions "))
    process = psutil.Process(server.pid)
    memory = process.memory_info().rss / (1 << 20)
    return State(memory, process.num_threads(), process.num_fds(), int(float(sessions)))


async def live(server: Server, part: Part, day: float) -> tuple[State, Found]:
    """A part of a day of so many seconds, and what the server held as its visitors began to go."""

    async def look() -> State:
        await asyncio.sleep((part.ramp + part.stay) * day)
        return await asyncio.to_thread(state_of, server)

    coming = visits(server.port, part.visitors, part.stay * day, part.ramp * day, CHANGES)
    return await asyncio.gather(look(), coming)


def settled(server: Server) -> State:
    """State of a server when all have left, or after a while all the same."""
    for _ in range(int(SETTLE_SECONDS)):
        if (state := state_of(server)).sessions == 0:
            break
        time.sleep(1)
    return state


def run(minutes: float, progress: Callable[[str], None]) -> bool:
    """Live through two days, print what was found, and tell whether all came back."""
    day = (60 * minutes - 2 * KEPT_SECONDS) / 2
    rows: list[Row] = []
    nights: list[State] = []

    def lived(name: str, part: Part, at_night: bool) -> None:
        progress(name)
        state, found = asyncio.run(live(server, part, day))
        for error, times in found.errors.most_common(3):
            progress(f"{times} × {error}")
        if at_night:
            state = settled(server)
            nights.append(state)
        changes, errors = str(len(found.changes)), str(found.errors.total())
        rows.append((name, str(part.visitors), changes, errors, *state.cells))

    with serve(APP_SCRIPT) as server:
        lived("before", PASSER_BY, at_night=True)
        for number in (1, 2):
            for part in DAY:
                lived(f"day {number}: {part.name}", part, at_night=False)
            progress(f"waiting {KEPT_SECONDS} s")
            time.sleep(KEPT_SECONDS)
            lived(f"night {number}", PASSER_BY, at_night=True)
    print(table("The server, while visitors are there and at night", HEADER, rows))
    _, first, second = nights
    back = (
        at_most("memory", second.memory - first.memory, MORE_MEGABYTES, "MB"),
        at_most("threads", second.threads - first.threads, MORE_THREADS, ""),
        at_most("open files", second.files - first.files, MORE_FILES, ""),
        at_most("sessions", second.sessions, MORE_SESSIONS, ""),
    )
    print(table("The second night over the first", TARGETS, back))
    lost = [row[0] for row in back if row[-1] != "meets"]
    print(f"Not as it was: {', '.join(lost)}." if lost else "All of it is as it was.")
    return not lost


def main() -> None:
    """Live through the days, in so many minutes; exit with 1 if something did not come back."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    minutes = min(max(parser.parse_args().minutes, MIN_MINUTES), MAX_MINUTES)
    sys.exit(not run(minutes, lambda text: print(text, file=sys.stderr, flush=True)))


if __name__ == "__main__":
    main()
