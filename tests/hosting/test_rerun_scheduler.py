"""One after the other, but nobody waits long for one who takes long."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from attention.hosting.rerun_scheduler import FIRST_EVERY, RerunScheduler
from tests.hosting.conftest import LONG, Within

Start = Callable[..., threading.Event]


@pytest.fixture
def start(within: Within) -> Start:
    """Starts a turn of an address in a thread and gives what is set once it has begun."""

    def begin(
        scheduler: RerunScheduler,
        address: str = "",
        do: Callable[[], object] = bool,
        is_first: bool = False,
    ) -> threading.Event:
        return within(scheduler.turn(address, is_first=is_first), do)

    return begin


def test_one_has_its_turn_after_the_other(start: Start) -> None:
    scheduler = RerunScheduler(LONG)
    with scheduler.turn():
        begun = start(scheduler)
        assert not begun.wait(0.2)
    assert begun.wait(LONG)


def test_one_who_took_long_does_not_end_the_turn_of_the_next(start: Start) -> None:
    scheduler, first_over, second_over = RerunScheduler(0.02), threading.Event(), threading.Event()
    with scheduler.turn():
        scheduler.quantum = LONG
        assert start(scheduler, do=lambda: (first_over.wait(LONG), second_over.wait(LONG))).wait(
            LONG
        )
        third = start(scheduler)
    first_over.set()
    assert not third.wait(0.2)
    second_over.set()
    assert third.wait(LONG)


def test_a_turn_that_fails_is_over() -> None:
    scheduler = RerunScheduler(LONG)
    for _ in range(2):
        with pytest.raises(RuntimeError), scheduler.turn():
            raise RuntimeError


def test_of_those_who_wait_the_address_that_had_least_is_next(start: Start) -> None:
    scheduler, told = RerunScheduler(LONG), list[str]()
    for address, seconds in {"A": 3.0, "B": 1.0, "C": 2.0}.items():
        scheduler.charge(address, seconds)
    with scheduler.turn("first"):
        begun = [start(scheduler, name, lambda name=name: told.append(name)) for name in "ABC"]
        waiting(scheduler, 3)
    assert all(each.wait(LONG) for each in begun)
    with scheduler.turn("last"):
        assert told == ["B", "C", "A"]


def waiting(scheduler: RerunScheduler, number: int) -> None:
    """Return once so many wait."""
    while len(scheduler._waiting) < number:
        time.sleep(0.001)


def test_who_is_inside_passes_first_pages_and_those_come_in_order_of_arrival(start: Start) -> None:
    scheduler, order = RerunScheduler(LONG), list[str]()
    scheduler.charge("inside", 5.0)
    with scheduler.turn("somebody", is_first=True):
        for number, name in enumerate(["1", "2", "3", "inside"], start=1):
            start(scheduler, name, lambda name=name: order.append(name), name != "inside")
            waiting(scheduler, number)
    while len(order) < 4:
        time.sleep(0.001)
    assert order == ["inside", "1", "2", "3"]


def test_a_first_page_goes_before_those_inside_once_in_a_while(start: Start) -> None:
    scheduler, order = RerunScheduler(LONG), list[str]()
    with scheduler.turn("somebody"):
        for number, name in enumerate(["inside", "first", "next"], start=1):
            start(scheduler, name, lambda name=name: order.append(name), name != "inside")
            waiting(scheduler, number)
        scheduler._first_began = time.monotonic() - FIRST_EVERY
    while len(order) < 3:
        time.sleep(0.001)
    assert order == ["first", "inside", "next"]


def test_who_has_waited_long_goes_before_who_had_less_and_has_just_come(start: Start) -> None:
    scheduler, order = RerunScheduler(LONG), list[str]()
    scheduler.charge("had more", 3.0)
    with scheduler.turn("somebody"):
        for number, name in enumerate(["had more", "had less"], start=1):
            start(scheduler, name, lambda name=name: order.append(name))
            waiting(scheduler, number)
        scheduler._waiting[0].since -= 4.0
    while len(order) < 2:
        time.sleep(0.001)
    assert order == ["had more", "had less"]


def test_first_pages_leave_one_place_to_those_inside(start: Start) -> None:
    scheduler, over = RerunScheduler(0.0, max_running=2), threading.Event()
    assert start(scheduler, "1", lambda: over.wait(LONG), True).wait(LONG)
    second = start(scheduler, "2", is_first=True)
    assert not second.wait(0.2)
    assert start(scheduler, "inside").wait(LONG)
    over.set()
    assert second.wait(LONG)


def test_an_address_leaves_one_place_to_the_others(start: Start) -> None:
    scheduler = RerunScheduler(0.0, max_running=3)
    with scheduler.turn("A"), scheduler.turn("A"):
        third_of_A, first_of_B = (start(scheduler, address) for address in "AB")
        assert first_of_B.wait(LONG)
        assert not third_of_A.wait(0.2)
    assert third_of_A.wait(LONG)


def test_work_gives_way_to_those_whose_address_had_no_more(start: Start) -> None:
    scheduler = RerunScheduler(LONG)
    scheduler.charge("greedy", 5.0)
    assert not scheduler.is_crowded_for("greedy"), "nobody waits"
    with scheduler.turn("somebody"):
        start(scheduler, "greedy")
        while not scheduler.is_crowded_for("greedy"):
            time.sleep(0.01)
        assert not scheduler.is_crowded_for("modest")
