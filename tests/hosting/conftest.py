"""Visitors at once, each in a thread of its own."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from types import SimpleNamespace

import pytest

from attention.hosting import admission
from attention.hosting.rerun_scheduler import RerunScheduler

LONG = 30.0  # seconds
Within = Callable[[AbstractContextManager[object], Callable[[], object]], threading.Event]


@pytest.fixture
def _no_time_goes_by(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the clock still: nothing is had anew with a second, however long a test takes."""
    still = SimpleNamespace(**vars(time) | {"monotonic": lambda: 7.0})
    monkeypatch.setattr(admission, "time", still)


def until_waiting(scheduler: RerunScheduler, number: int) -> None:
    """Return once so many wait, each of whom has looked and found no turn."""
    give_up = time.monotonic() + LONG
    while time.monotonic() < give_up:
        with scheduler._lock:  # which is held from the first look to the wait
            if len(scheduler._waiting) == number:
                return
        time.sleep(0.001)
    raise AssertionError(f"{len(scheduler._waiting)} wait, not {number}")


@pytest.fixture
def within() -> Iterator[Within]:
    """Enters a context in a thread and does something there; gives what is set once it is entered.

    All are waited for at the end.
    """
    threads = []

    def begin(context: AbstractContextManager[object], do: Callable[[], object]) -> threading.Event:
        begun = threading.Event()

        def run() -> None:
            with context:
                begun.set()
                do()

        threads.append(threading.Thread(target=run, daemon=True))
        threads[-1].start()
        return begun

    yield begin
    for thread in threads:
        thread.join(LONG)
        assert not thread.is_alive()
