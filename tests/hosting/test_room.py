"""Who is in and who waits, with a clock that is set by hand."""

from __future__ import annotations

from attention.hosting.room import KEPT, WAITING, Room
from tests.properties import given, settings, strategies


def full(places: int) -> Room:
    room = Room(places)
    assert all(room.connect(f"in {place}", 0.0) for place in range(places))
    return room


def test_whoever_comes_while_there_is_a_place_is_let_in() -> None:
    room = full(2)
    assert room.free == 0
    assert Room(1).ask("a", 0.0) == 0


def test_the_others_wait_in_the_order_they_came() -> None:
    room = full(2)
    assert [room.ask(name, 1.0) for name in "abc"] == [1, 2, 3]
    assert [room.ask(name, 2.0) for name in "cba"] == [3, 2, 1]


def test_who_has_waited_longest_gets_the_free_place_and_keeps_it_on_the_way() -> None:
    room = full(2)
    assert [room.ask(name, 1.0) for name in "ab"] == [1, 2]
    room.leave("in 0", 1.0)
    assert room.ask("a", 2.0) == 1  # who left may still come back, as after a reload
    gone = 1.0 + KEPT + 1
    assert [room.ask(name, gone) for name in "ba"] == [2, 0]
    assert not room.connect("b", gone)
    assert room.connect("a", gone)


def test_nobody_passes_those_who_wait() -> None:
    room = full(2)
    assert room.ask("a", 0.0) == 1
    room.leave("in 0", 0.0)
    room.leave("in 1", 0.0)
    room.ask("a", KEPT)
    later = KEPT + 1
    assert room.connect("new", later)  # one place is kept for a, the other is free
    assert not room.connect("newer", later)
    assert room.ask("a", later) == 0


def test_who_no_longer_asks_has_given_up() -> None:
    room = full(1)
    assert [room.ask(name, 0.0) for name in "ab"] == [1, 2]
    assert room.ask("b", WAITING) == 2
    assert room.ask("b", WAITING + 1) == 1


def test_a_place_is_lost_when_nobody_comes_for_it() -> None:
    room = Room(1)
    room.connect("a", 0.0)
    room.leave("a", 0.0)
    assert room.connect("a", KEPT)
    room.leave("a", KEPT)
    assert room.connect("b", 2 * KEPT + 1)


def test_every_tab_takes_a_place() -> None:
    room = Room(3)
    assert [room.connect("a", 0.0) for _ in range(5)] == [True, True, True, False, False]


moves = strategies.lists(
    strategies.tuples(
        strategies.sampled_from(("ask", "connect", "leave")),
        strategies.integers(0, 6),
        strategies.floats(0.0, 8.0),
    ),
    max_size=60,
)


@settings(max_examples=200)
@given(moves)
def test_there_are_never_more_connections_than_places(steps: list[tuple[str, int, float]]) -> None:
    room, now, inside = Room(3), 0.0, []
    for move, visitor, seconds in steps:
        now += seconds
        name = str(visitor)
        if move == "ask":
            assert room.ask(name, now) >= 0
        elif move == "connect":
            inside += [name] * room.connect(name, now)
        elif inside:
            room.leave(inside.pop(0), now)
        assert len(inside) <= room.places
        assert room.free >= 0
