"""One after the other, but nobody waits long for one who takes long."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from attention.hosting.turns import Turns

LONG = 30.0  # seconds


def started(run: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread


def test_one_has_its_turn_after_the_other() -> None:
    turns, told = Turns(LONG), list[str]()
    begun = threading.Event()

    def second() -> None:
        with turns.one():
            told.append("second begins")
            begun.set()

    with turns.one():
        thread = started(second)
        assert not begun.wait(0.2)
        told.append("first ends")
    thread.join(LONG)
    assert told == ["first ends", "second begins"]


def test_one_who_takes_long_lets_the_next_begin() -> None:
    turns, begun = Turns(0.02), threading.Event()

    def second() -> None:
        with turns.one():
            begun.set()

    with turns.one():
        started(second)
        assert begun.wait(LONG)


def test_one_who_took_long_does_not_end_the_turn_of_the_next() -> None:
    turns, told = Turns(0.02), list[str]()
    second_begun, first_over, third_begun = (threading.Event() for _ in range(3))

    def second() -> None:
        with turns.one():
            second_begun.set()
            first_over.wait(LONG)
            third_begun.wait(0.2)
            told.append("second ends")

    def third() -> None:
        with turns.one():
            told.append("third begins")
            third_begun.set()

    with turns.one():
        turns.most = LONG
        threads = [started(second)]
        assert second_begun.wait(LONG)
        threads.append(started(third))
    first_over.set()
    for thread in threads:
        thread.join(LONG)
    assert told == ["second ends", "third begins"]


def test_a_turn_that_fails_is_over() -> None:
    turns = Turns(LONG)
    for _ in range(2):
        with pytest.raises(RuntimeError), turns.one():
            raise RuntimeError
