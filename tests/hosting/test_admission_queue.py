"""Visitors in and waiting, with a clock that is set by hand."""

from __future__ import annotations

from collections import Counter

from attention.hosting.admission_queue import (
    MAX_ENTERING,
    RESERVED_SECONDS,
    WAITING_SECONDS,
    AdmissionQueue,
    Visitor,
)
from tests.properties import given, settings
from tests.properties import strategies as st


def at(address: str, name: str = "") -> Visitor:
    return Visitor(address, name)


def full(places: int, per_address: int = 0) -> AdmissionQueue:
    """A queue of which an address may have all, unless told otherwise."""
    queue = AdmissionQueue(places, per_address or places)
    assert all(queue.connect(at(f"in {place}"), 0.0) for place in range(places))
    return queue


def test_who_has_waited_longest_gets_the_free_place_and_keeps_it_on_the_way():
    queue = full(2)
    assert [queue.position(at(address), 1.0) for address in "ab"] == [1, 2]
    queue.leave(at("in 0"), 1.0)
    assert queue.position(at("a"), 2.0) == 1  # who left may still come back, as after a reload
    gone = 1.0 + RESERVED_SECONDS + 1
    assert [queue.position(at(address), gone) for address in "ba"] == [2, 0]
    assert not queue.connect(at("b"), gone)
    assert queue.connect(at("a"), gone)


def test_nobody_passes_those_who_wait():
    queue = full(2)
    assert queue.position(at("a"), 0.0) == 1
    queue.leave(at("in 0"), 0.0)
    queue.leave(at("in 1"), 0.0)
    queue.position(at("a"), RESERVED_SECONDS)
    later = RESERVED_SECONDS + 1
    assert queue.connect(at("new"), later)  # one place is kept for a, the other is free
    assert not queue.connect(at("newer"), later)
    assert queue.position(at("a"), later) == 0


def test_who_no_longer_asks_has_given_up():
    queue = full(1)
    assert [queue.position(at(address), 0.0) for address in "ab"] == [1, 2]
    assert queue.position(at("b"), WAITING_SECONDS) == 2
    assert queue.position(at("b"), WAITING_SECONDS + 1) == 1


def test_who_only_asks_where_they_would_stand_keeps_nobody_waiting():
    queue = full(1)
    assert [queue.position(at(address), 0.0, wait=False) for address in "ab"] == [1, 1]
    assert queue.position(at("c"), 0.0) == 1


def test_a_place_is_lost_when_nobody_comes_for_it_and_is_of_no_use_to_another_address():
    queue = AdmissionQueue(1, 1)
    queue.connect(at("a", "x"), 0.0)
    queue.leave(at("a", "x"), 0.0)
    assert not queue.connect(at("b", "x"), 1.0)
    assert queue.connect(at("a", "x"), RESERVED_SECONDS)
    queue.leave(at("a", "x"), RESERVED_SECONDS)
    assert queue.connect(at("b"), 2 * RESERVED_SECONDS + 1)


def test_who_waits_for_their_own_address_is_passed_by_the_others():
    queue = AdmissionQueue(5, 2)
    assert [queue.connect(at("a", name), 0.0) for name in "xyz"] == [True, True, False]
    assert queue.is_crowded("a")
    assert not queue.is_crowded("b")
    assert [queue.position(at("a", name), 0.0) for name in "pq"] == [1, 2]
    assert queue.position(at("b"), 0.0) == 0
    assert queue.connect(at("b"), 0.0)
    queue.leave(at("a", "x"), 0.0)
    assert [queue.position(at("a", name), RESERVED_SECONDS) for name in "pq"] == [
        1,
        2,
    ]  # the place is still kept
    assert [queue.position(at("a", name), RESERVED_SECONDS + 1) for name in "qp"] == [2, 0]


def test_one_address_does_not_fill_the_queue():
    queue = full(5, 2)
    assert [queue.position(at("a", str(number)), 0.0) for number in range(9)] == [1, 2] + [3] * 7
    assert queue.position(at("b"), 0.0) == 3
    assert len(queue.waiting) == 3


def test_while_many_come_in_the_next_wait_in_order_and_are_told_their_place():
    queue = AdmissionQueue(300, 150)
    queue.entering = MAX_ENTERING - 1
    assert queue.position(at("a"), 0.0) == 0
    queue.entering += 1
    names = "bcd"
    assert [queue.position(at(name), 0.0) for name in names] == [1, 2, 3]
    queue.has_entered()
    assert [queue.position(at(name), 1.0) for name in "dcbd"] == [3, 2, 0, 2]
    queue.connect(at("b"), 2.0)
    assert [queue.position(at(name), 2.0) for name in "dc"] == [2, 0]


def test_what_says_nothing_takes_a_place_of_its_address_alone():
    queue = AdmissionQueue(5, 2)
    with queue.opening_connection("a"), queue.opening_connection("a"):
        assert queue.free == 5
        assert not queue.admits(at("a"), 0.0)
        assert queue.admits(at("b"), 0.0)
    assert queue.admits(at("a"), 0.0)
    assert not queue.opening


def test_a_place_that_is_kept_for_somebody_lets_no_number_of_silent_connections_in():
    queue = AdmissionQueue(1, 1)
    queue.connect(at("a", "x"), 0.0)
    queue.leave(at("a", "x"), 0.0)
    assert queue.admits(at("a", "x"), 1.0)
    with queue.opening_connection("a"):
        assert not queue.admits(at("a", "x"), 1.0)


moves = st.lists(
    st.tuples(
        st.sampled_from(("ask", "connect", "leave")),
        st.integers(0, 6),
        st.integers(0, 2),
        st.floats(0.0, 8.0),
    ),
    max_size=60,
)


@settings(max_examples=80)
@given(moves)
def test_there_are_never_more_connections_than_places_nor_than_an_address_may_have(steps):
    queue, now, inside = AdmissionQueue(5, 3), 0.0, []
    for move, visitor, address, seconds in steps:
        now += seconds
        who = at(str(address), str(visitor))
        if move == "ask":
            assert queue.position(who, now) >= 0
        elif move == "connect":
            inside += [who] * queue.connect(who, now)
        elif inside:
            queue.leave(inside.pop(0), now)
        assert len(inside) <= queue.places
        assert max(Counter(each.address for each in inside).values(), default=0) <= 3
        assert queue.free >= 0


@settings(max_examples=80)
@given(moves)
def test_who_goes_on_asking_gets_in_once_the_places_are_left(steps):
    queue, now = AdmissionQueue(2, 1), 0.0
    for move, visitor, address, seconds in steps:
        now += seconds
        who = at(str(address), str(visitor))
        if move == "ask":
            queue.position(who, now)
        elif move == "connect" and queue.connect(who, now):
            queue.leave(who, now)
    patient = at("patient", "p")
    asked = [queue.position(patient, now + 3 * number) for number in range(12)]
    assert 0 in asked
