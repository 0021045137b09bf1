"""Classes under way: who may look at one, and how much of them is kept."""

import contextlib

import pytest

from attention.subjects.guide import classes as module
from attention.subjects.guide.carried import LETTERS
from attention.subjects.guide.classes import (
    LONGEST_SENTENCE,
    MOST_CLASSES,
    MOST_PUPILS,
    Classes,
    NoRoom,
    name_of,
    new_key,
)
from attention.subjects.guide.votes import Ballot
from tests.hostile import HOSTILE

GUIDE = ("guide", "", "one-word")


@pytest.fixture
def opened() -> tuple[Classes, str, str]:
    """Classes of which one is open, its key and its name."""
    classes, key = Classes(), new_key()
    classes.look(key, "a", GUIDE)
    return classes, key, name_of(key)


def test_the_name_of_a_class_follows_from_its_key_alone():
    key = new_key()
    assert (name_of(key), len(name_of(key))) == (name_of(key), 6)
    assert {*name_of(key)} <= {*LETTERS}
    assert name_of(key) != name_of(new_key())
    for wrong in ("", key[1:], f"{key}0", key.replace(key[0], "!"), *HOSTILE):
        assert not name_of(wrong)
        with pytest.raises(ValueError, match="not whole"):
            Classes().look(wrong, "a", GUIDE)


def test_a_class_takes_the_last_vote_and_sentence_of_each_pupil_once_its_teacher_has_come():
    classes, key = Classes(), new_key()
    name, at = name_of(key), ("link", "abc", "chapter 1")
    assert (classes.vote(name, "1", at, 0), classes.find(name)) == (False, None)
    classes.look(key, "a", at)
    for pupil, choice in (("1", 0), ("2", 0), ("3", 0), ("1", 1), ("3", None)):
        assert classes.vote(name, pupil, at, choice)
    assert classes.send(name, "2", " a\n cat \u202e sat ")
    room = classes.look(key, "a", at)
    assert (room.ballot(at).first, room.sentences) == ({"1": 1, "2": 0}, ["a cat sat"])
    assert (room.at, room.ballot(GUIDE)) == (at, Ballot())


def test_a_closed_vote_stays_as_it_was_and_a_class_of_three_networks_is_counted_exactly(opened):
    classes, key, name = opened
    pupils = [(f"{at}", f"192.0.{at % 3}.1") for at in range(10)]

    def voted(choices: str) -> Ballot:
        for (pupil, address), choice in zip(pupils, choices, strict=True):
            assert classes.join(name, pupil, address)
            if choice != "-":
                assert classes.vote(name, pupil, GUIDE, int(choice), address)
        return classes.look(key, "a", GUIDE).ballot(GUIDE)

    first = voted("0011220-01")
    assert [*first.first.values()].count(0) == 4
    classes.move(key, GUIDE, "close")
    closed = voted("2222222222")
    assert (closed.first, closed.second, closed.phase) == (first.first, {}, "talk")
    classes.move(key, GUIDE, "again")
    second = voted("11122211-1")
    assert (second.first, len(second.second)) == (first.first, 9)
    assert second.turned(1) == (3, 1)
    for move in ("close", "reveal"):
        classes.move(key, GUIDE, move)
        ended = voted("0000000000")
        assert (ended.first, ended.second) == (second.first, second.second)
    assert len(classes.look(key, "a", GUIDE).pupils) == 10
    classes.move(key, GUIDE, "anew")
    assert classes.look(key, "a", GUIDE).ballot(GUIDE) == Ballot(is_anew=True)
    voted("0000000000")
    classes.undo(key)
    assert classes.look(key, "a", GUIDE).ballot(GUIDE) == ended


def test_what_is_taken_away_comes_back_beside_what_has_come_since(opened):
    classes, key, name = opened
    other = ("guide", "", "scores")

    def votes() -> list[object]:
        room = classes.look(key, "a", GUIDE)
        return [room.ballot(asked).first for asked in (GUIDE, other)]

    classes.vote(name, "1", GUIDE, 0)
    classes.send(name, "1", "a cat sat")
    classes.drop_sentence(key, "a cat sat")
    assert classes.look(key, "a", GUIDE).sentences == []
    classes.vote(name, "1", GUIDE, 1)
    classes.undo(key)
    assert (classes.look(key, "a", GUIDE).sentences, votes()) == (["a cat sat"], [{"1": 1}, {}])
    classes.empty(key)
    classes.vote(name, "2", other, 2)
    assert (votes(), [*classes.look(key, "a", GUIDE).pupils]) == ([{}, {"2": 2}], ["2"])
    for _ in range(2):
        classes.undo(key)
        assert votes() == [{"1": 1}, {"2": 2}]
        assert {*classes.look(key, "a", GUIDE).pupils} == {"1", "2"}


def test_another_key_with_the_name_of_a_class_does_nothing_to_it(monkeypatch):
    monkeypatch.setattr(module, "name_of", lambda key: "ABCDEF")  # 30 bits: found in seconds
    classes, key, found = Classes(), new_key(), new_key()
    classes.look(key, "a", GUIDE)
    classes.send("ABCDEF", "1", "a cat sat")
    classes.drop_sentence(key, "a cat sat")
    before = classes.find("ABCDEF")
    with pytest.raises(ValueError, match="another key"):
        classes.look(found, "a", ("link", "abc", ""))
    classes.undo(found)
    classes.empty(found)
    classes.drop_sentence(found, "")
    classes.open_or_close(found, False)
    classes.move(found, GUIDE, "reveal")
    assert classes.find("ABCDEF") is before
    classes.undo(key)
    assert classes.look(key, "a", GUIDE).sentences == ["a cat sat"]


def test_sentences_have_a_greatest_length(opened):
    classes, key, name = opened
    classes.send(name, "7", "a" * (LONGEST_SENTENCE + 1))
    assert [*map(len, classes.look(key, "a", GUIDE).sentences)] == [LONGEST_SENTENCE]


def test_a_class_is_kept_for_three_hours_after_its_teacher_last_looked():
    now, keys = [0.0], [new_key(), new_key()]
    classes = Classes(lambda: now[0])
    classes.look(keys[0], "a", GUIDE)
    for hours, is_here in ((2.9, True), (5.8, True), (8.9, False)):
        now[0] = 3600 * hours
        classes.look(keys[1], "b", GUIDE)
        assert (classes.find(name_of(keys[0])) is not None) is is_here
        if is_here:
            classes.look(keys[0], "a", GUIDE)


def joined(classes: Classes, address: str) -> str:
    """The name of a new class that one pupil has joined."""
    key = new_key()
    classes.look(key, address, GUIDE)
    assert classes.vote(name_of(key), "1", GUIDE, 0)
    return name_of(key)


def test_networks_of_one_owner_together_leave_classes_to_others():
    classes, names = Classes(), []
    for at in range(7 * MOST_CLASSES):
        with contextlib.suppress(NoRoom):
            names.append(joined(classes, f"2001:db8:0:{at % 7:x}::/64"))
    assert len(names) == 0.6 * MOST_CLASSES
    assert all(map(classes.find, names))
    assert joined(classes, "192.0.2.1")


def test_a_class_that_nobody_joined_is_given_up_first():
    classes, keys = Classes(), [new_key(), new_key()]
    for key in keys:
        classes.look(key, "first", GUIDE)
    names = [joined(classes, f"address {at}") for at in range(MOST_CLASSES - 2)]
    classes.look(keys[0], "first", GUIDE)
    names.append(joined(classes, "another"))
    assert classes.find(name_of(keys[1])) is None
    assert classes.find(name_of(keys[0]))
    names.append(joined(classes, "one more"))
    with pytest.raises(NoRoom, match="as many classes"):
        joined(classes, "too many")
    assert all(map(classes.find, names))


def come(classes: Classes, name: str, address: str, count: int, choice: int | None = 0) -> int:
    """Number of so many new pupils of an address that have a place. choice: None = no vote yet."""
    names = [f"{address} {at}" for at in range(count)]
    if choice is None:
        return sum(classes.join(name, pupil, address) for pupil in names)
    return sum(classes.vote(name, pupil, GUIDE, choice, address) for pupil in names)


def test_a_school_at_one_address_fits_beside_others_and_none_takes_all(opened):
    classes, _, name = opened
    assert come(classes, name, "192.0.2.1", 40) == 40
    assert come(classes, name, "198.51.100.1", 115) == 100
    assert come(classes, name, "203.0.113.1", 1) == 1
    taken = [come(classes, name, f"2001:db8:0:{at:x}::/64", 120) for at in range(7)]
    assert sum(taken) == 60, "of 99 that are left"
    assert come(classes, name, "198.51.100.1", 100) == 100, "they have joined already"


def test_whoever_has_shown_nothing_is_let_go_first(opened):
    classes, key, name = opened

    def pupils() -> list[str]:
        return [*classes.look(key, "a", GUIDE).pupils]

    for address in ("192.0.2.1", "192.0.2.2"):
        assert come(classes, name, address, MOST_PUPILS, choice=None) == MOST_PUPILS
    assert len(pupils()) == MOST_PUPILS
    assert come(classes, name, "198.51.100.1", 100) == 100
    assert len(pupils()) == MOST_PUPILS
    assert come(classes, name, "192.0.2.1", 3, choice=None) == 3
    assert {f"198.51.100.1 {at}" for at in range(100)} < {*pupils()}
    assert len(classes.look(key, "a", GUIDE).ballot(GUIDE).first) == 100


def test_a_closed_door_lets_in_only_who_has_joined(opened):
    classes, key, name = opened
    classes.vote(name, "1", GUIDE, 0)
    classes.open_or_close(key, False)
    assert not classes.vote(name, "2", GUIDE, 0)
    assert not classes.send(name, "2", "a cat sat")
    assert classes.vote(name, "1", GUIDE, 1)
    classes.open_or_close(key, True)
    assert classes.vote(name, "2", GUIDE, 0)
