"""Visitors in and waiting, with a clock that is set by hand."""

from __future__ import annotations

from collections import Counter

from attention.hosting.room import KEPT, WAITING, Room, Who
from tests.properties import given, settings
from tests.properties import strategies as st


def at(address: str, name: str = "") -> Who:
    return Who(address, name)


def full(places: int, of_address: int = 0) -> Room:
    """A room of which an address may have all, unless told otherwise."""
    room = Room(places, of_address or places)
    assert all(room.connect(at(f"in {place}"), 0.0) for place in range(places))
    return room


def test_who_has_waited_longest_gets_the_free_place_and_keeps_it_on_the_way() -> None:
    room = full(2)
    assert [room.ask(at(address), 1.0) for address in "ab"] == [1, 2]
    room.leave(at("in 0"), 1.0)
    assert room.ask(at("a"), 2.0) == 1  # who left may still come back, as after a reload
    gone = 1.0 + KEPT + 1
    assert [room.ask(at(address), gone) for address in "ba"] == [2, 0]
    assert not room.connect(at("b"), gone)
    assert room.connect(at("a"), gone)


def test_nobody_passes_those_who_wait() -> None:
    room = full(2)
    assert room.ask(at("a"), 0.0) == 1
    room.leave(at("in 0"), 0.0)
    room.leave(at("in 1"), 0.0)
    room.ask(at("a"), KEPT)
    later = KEPT + 1
    assert room.connect(at("new"), later)  # one place is kept for a, the other is free
    assert not room.connect(at("newer"), later)
    assert room.ask(at("a"), later) == 0


def test_who_no_longer_asks_has_given_up() -> None:
    room = full(1)
    assert [room.ask(at(address), 0.0) for address in "ab"] == [1, 2]
    assert room.ask(at("b"), WAITING) == 2
    assert room.ask(at("b"), WAITING + 1) == 1


def test_who_only_asks_where_they_would_stand_keeps_nobody_waiting() -> None:
    room = full(1)
    assert [room.ask(at(address), 0.0, wait=False) for address in "ab"] == [1, 1]
    assert room.ask(at("c"), 0.0) == 1


def test_a_place_is_lost_when_nobody_comes_for_it_and_is_of_no_use_to_another_address() -> None:
    room = Room(1, 1)
    room.connect(at("a", "x"), 0.0)
    room.leave(at("a", "x"), 0.0)
    assert not room.connect(at("b", "x"), 1.0)
    assert room.connect(at("a", "x"), KEPT)
    room.leave(at("a", "x"), KEPT)
    assert room.connect(at("b"), 2 * KEPT + 1)


def test_one_address_has_no_more_places_than_it_may_by_whatever_names() -> None:
    room = Room(7, 3)
    names = ["", "", "x", "y", "z"]
    assert [room.connect(at("a", name), 0.0) for name in names] == [True] * 3 + [False] * 2
    assert room.is_crowded("a")
    assert room.free == 4
    assert [room.connect(at(f"b{number}"), 0.0) for number in range(5)] == [True] * 4 + [False]
    assert not room.is_crowded("a"), "but the room is full"


def test_who_waits_for_their_own_address_is_passed_by_the_others() -> None:
    room = Room(5, 2)
    assert [room.connect(at("a", name), 0.0) for name in "xyz"] == [True, True, False]
    assert [room.ask(at("a", name), 0.0) for name in "pq"] == [1, 2]
    assert room.ask(at("b"), 0.0) == 0
    assert room.connect(at("b"), 0.0)
    room.leave(at("a", "x"), 0.0)
    assert [room.ask(at("a", name), KEPT) for name in "pq"] == [1, 2]  # the place is still kept
    assert [room.ask(at("a", name), KEPT + 1) for name in "qp"] == [2, 0]


def test_one_address_does_not_fill_the_queue() -> None:
    room = full(5, 2)
    assert [room.ask(at("a", str(number)), 0.0) for number in range(9)] == [1, 2] + [3] * 7
    assert room.ask(at("b"), 0.0) == 3
    assert len(room.waiting) == 3


def test_what_says_nothing_takes_a_place_of_its_address_alone() -> None:
    room = Room(5, 2)
    with room.one_silent("a"), room.one_silent("a"):
        assert room.free == 5
        assert not room.admits(at("a"), 0.0)
        assert room.admits(at("b"), 0.0)
    assert room.admits(at("a"), 0.0)
    assert not room.silent


def test_a_place_that_is_kept_for_somebody_lets_no_number_of_silent_connections_in() -> None:
    room = Room(1, 1)
    room.connect(at("a", "x"), 0.0)
    room.leave(at("a", "x"), 0.0)
    assert room.admits(at("a", "x"), 1.0)
    with room.one_silent("a"):
        assert not room.admits(at("a", "x"), 1.0)


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
def test_there_are_never_more_connections_than_places_nor_than_an_address_may_have(
    steps: list[tuple[str, int, int, float]],
) -> None:
    room, now, inside = Room(5, 3), 0.0, []
    for move, visitor, address, seconds in steps:
        now += seconds
        who = at(str(address), str(visitor))
        if move == "ask":
            assert room.ask(who, now) >= 0
        elif move == "connect":
            inside += [who] * room.connect(who, now)
        elif inside:
            room.leave(inside.pop(0), now)
        assert len(inside) <= room.places
        assert max(Counter(each.address for each in inside).values(), default=0) <= 3
        assert room.free >= 0


@settings(max_examples=80)
@given(moves)
def test_who_goes_on_asking_gets_in_once_the_places_are_left(
    steps: list[tuple[str, int, int, float]],
) -> None:
    room, now = Room(2, 1), 0.0
    for move, visitor, address, seconds in steps:
        now += seconds
        who = at(str(address), str(visitor))
        if move == "ask":
            room.ask(who, now)
        elif move == "connect" and room.connect(who, now):
            room.leave(who, now)
    patient = at("patient", "p")
    asked = [room.ask(patient, now + 3 * number) for number in range(12)]
    assert 0 in asked
