"""One after the other, but nobody waits long for one who takes long."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from attention.hosting.rerun_scheduler import FIRST_EVERY, RerunScheduler
from tests.hosting.conftest import LONG, Within, until_waiting

Start = Callable[..., threading.Event]


@pytest.fixture
def start(within: Within) -> Start:
    """Starts a turn of an address in a thread and gives what is set once it has begun.

    An address that ends with a star is of a first page.
    """

    def begin(
        scheduler: RerunScheduler, address: str = "", do: Callable[[], object] = bool
    ) -> threading.Event:
        return within(scheduler.turn(address, is_first=address.endswith("*")), do)

    return begin


@pytest.mark.parametrize(
    ("quantum", "places", "running", "waits", "begins"),
    [
        # one has its turn after the other
        (LONG, 4, "A", "B", ""),
        # first pages leave one place to those inside
        (0.0, 2, "1*", "2*", "inside"),
        # an address leaves one place to the others
        (0.0, 3, "A A", "A", "B"),
    ],
)
def test_who_finds_no_place_waits_and_others_do_not(start, quantum, places, running, waits, begins):
    scheduler, over = RerunScheduler(quantum, places), threading.Event()
    for address in running.split():
        assert start(scheduler, address, lambda: over.wait(LONG)).wait(LONG)
    late = start(scheduler, waits)
    until_waiting(scheduler, 1)
    assert all(start(scheduler, address).wait(LONG) for address in begins.split())
    assert not late.is_set()
    over.set()
    assert late.wait(LONG)


@pytest.mark.parametrize(
    ("used", "come", "waited", "order"),
    [
        # the address that had least is next
        ({"A": 3.0, "B": 1.0, "C": 2.0}, "A B C", 0.0, "B C A"),
        # who is inside passes first pages, which come in order of arrival
        ({"inside": 5.0}, "1* 2* 3* inside", 0.0, "inside 1* 2* 3*"),
        # but for one in a while
        ({}, "inside 1* 2*", FIRST_EVERY, "1* inside 2*"),
        # who has waited long goes before who had less and has just come
        ({"more": 3.0}, "more less", 4.0, "more less"),
    ],
)
def test_turns_go_to_those_who_wait_in_this_order(start, used, come, waited, order):
    """waited: seconds of the first of them, and since the last first page."""
    scheduler, turns = RerunScheduler(LONG), list[str]()
    for address, seconds in used.items():
        scheduler.charge(address, seconds)
    begun = []
    with scheduler.turn("somebody"):
        for number, address in enumerate(come.split(), start=1):
            begun.append(start(scheduler, address, lambda address=address: turns.append(address)))
            until_waiting(scheduler, number)
        scheduler._waiting[0].since -= waited
        scheduler._first_began = time.monotonic() - waited
    assert all(each.wait(LONG) for each in begun)
    with scheduler.turn("last"):
        assert turns == order.split()


def test_one_who_took_long_does_not_end_the_turn_of_the_next(start):
    scheduler, first_over, second_over = RerunScheduler(0.02), threading.Event(), threading.Event()
    with scheduler.turn():
        scheduler.quantum = LONG

        def both() -> None:
            first_over.wait(LONG)
            second_over.wait(LONG)

        assert start(scheduler, do=both).wait(LONG)
        third = start(scheduler)
        until_waiting(scheduler, 1)
    first_over.set()
    assert not third.is_set()
    second_over.set()
    assert third.wait(LONG)


def test_a_turn_that_fails_is_over():
    scheduler = RerunScheduler(LONG)
    for _ in range(2):
        with pytest.raises(RuntimeError), scheduler.turn():
            raise RuntimeError


def test_work_gives_way_to_those_whose_address_had_no_more(start):
    scheduler = RerunScheduler(LONG)
    scheduler.charge("greedy", 5.0)
    assert not scheduler.should_yield_to("greedy"), "nobody waits"
    with scheduler.turn("somebody"):
        start(scheduler, "greedy")
        until_waiting(scheduler, 1)
        assert scheduler.should_yield_to("greedy")
        assert not scheduler.should_yield_to("modest")
