"""One after the other, but nobody waits long for one who takes long."""

from __future__ import annotations

import threading
import time
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


def test_of_those_who_wait_the_address_that_had_least_is_next() -> None:
    turns, told = Turns(LONG), list[str]()
    for address, seconds in {"A": 3.0, "B": 1.0, "C": 2.0}.items():
        turns.take(address, seconds)

    def have_one(address: str) -> None:
        with turns.one(address):
            told.append(address)

    with turns.one("first"):
        threads = [started(lambda name=name: have_one(name)) for name in "ABC"]
        while len(turns._waiting) < 3:
            time.sleep(0.001)
    for thread in threads:
        thread.join(LONG)
    assert told == ["B", "C", "A"]


def test_an_address_leaves_one_place_to_the_others() -> None:
    turns = Turns(0.0, places=3)
    begun = {name: threading.Event() for name in ("third of A", "first of B")}

    def have_one(address: str, name: str) -> None:
        with turns.one(address):
            begun[name].set()

    with turns.one("A"), turns.one("A"):
        threads = [started(lambda: have_one("A", "third of A"))]
        threads.append(started(lambda: have_one("B", "first of B")))
        assert begun["first of B"].wait(LONG)
        assert not begun["third of A"].wait(0.2)
    assert begun["third of A"].wait(LONG)
    for thread in threads:
        thread.join(LONG)


def test_work_gives_way_to_those_whose_address_had_no_more() -> None:
    turns = Turns(LONG)
    turns.take("greedy", 5.0)
    assert not turns.is_crowded_for("greedy"), "nobody waits"
    with turns.one("somebody"):
        thread = started(lambda: wait_in(turns, "greedy"))
        while not turns.is_crowded_for("greedy"):
            time.sleep(0.01)
        assert not turns.is_crowded_for("modest")
    thread.join(LONG)


def wait_in(turns: Turns, address: str) -> None:
    with turns.one(address):
        pass
