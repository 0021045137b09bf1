"""Reruns: a few at once, each timed, and held back where its session took more than its share."""

from __future__ import annotations

import contextlib
import functools
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from attention.core.limits import limits
from attention.hosting import metrics
from attention.hosting.rerun_scheduler import POLL, RerunScheduler
from attention.hosting.token_bucket import TokenBucket

AT_ONCE = 3.0  # seconds of a core that a session may use at once
MAX_HELD = 10.0  # seconds

_thread = threading.local()


def _full() -> TokenBucket:
    return TokenBucket.full(limits().share / 100, AT_ONCE, time.monotonic())


@dataclass
class Share:
    """Share of a session: seconds of a core, and if it has had a turn for its first page."""

    bucket: TokenBucket = field(default_factory=_full)
    is_inside: bool = False


@functools.cache
def _scheduler() -> RerunScheduler:
    """Of all reruns, so many of which may be under way at once; further ones wait for a place.

    One rerun after the other is done sooner than all of them by slices of Python's lock: of 100
    visitors 95 % waited up to 173 to 384 ms without this, 134 to 223 with it.
    """
    return RerunScheduler(0.1, limits().runs)


def should_yield_to(address: str) -> bool:
    """True if reruns wait to which work of an address, which runs beside them, gives way."""
    return _scheduler().should_yield_to(address)


def _hold_back(seconds: float, still_wanted: Callable[[], object]) -> None:
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        time.sleep(min(left, POLL))
        still_wanted()


@contextlib.contextmanager
def pause() -> Iterator[None]:
    """To be entered while a rerun waits for a job that runs beside it: others have its turn."""
    turn: contextlib.ExitStack | None = getattr(_thread, "turn", None)
    if turn is None:
        yield
        return
    turn.close()
    try:
        yield
    finally:
        turn.enter_context(_scheduler().turn(*_thread.waits_as))


@contextlib.contextmanager
def rerun(
    page: str, share: Share, address: str = "", still_wanted: Callable[[], object] = bool
) -> Iterator[float]:
    """To be entered by all that runs for a session; one within another is a part of it.

    page: its name; share: of the session; address: where it comes from; still_wanted: raises once
    the rerun is to be stopped, and is asked while it waits. Gives the seconds that it was held
    back, during which the others have the core.
    """
    if getattr(_thread, "turn", None):
        yield 0.0
        return
    held = min(share.bucket.take(0, time.monotonic()), MAX_HELD)
    if held:
        _hold_back(held, still_wanted)
        metrics.HELD.inc(held)
    _thread.turn = turn = contextlib.ExitStack()
    _thread.waits_as = address, still_wanted
    try:
        with metrics.RERUNS.labels(page).time(), turn:
            turn.enter_context(_scheduler().turn(address, still_wanted, not share.is_inside))
            share.is_inside = True
            yield held
    finally:
        _thread.turn = None
        # All that the thread did since the last time, what ran before the page included.
        counted, now = time.thread_time(), time.monotonic()
        took = counted - getattr(_thread, "counted", 0.0)
        share.bucket.take(took, now)
        _scheduler().charge(address, took)
        _thread.counted = counted
