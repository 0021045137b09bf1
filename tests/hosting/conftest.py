"""Visitors at once, each in a thread of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

import pytest

LONG = 30.0  # seconds
Within = Callable[[AbstractContextManager[object], Callable[[], object]], threading.Event]


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
