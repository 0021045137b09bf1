"""Classes under way: who may look at one, and how much of them is kept."""

import pytest

from attention.subjects.guide.carried import LETTERS
from attention.subjects.guide.classes import (
    HOURS,
    LONGEST_CODE,
    LONGEST_SENTENCE,
    MOST_CLASSES,
    MOST_PUPILS,
    Classes,
    NoRoom,
    name_of,
    new_key,
)
from tests.hostile import HOSTILE

GUIDE = ("guide", "")


def test_the_name_of_a_class_follows_from_its_key_alone():
    key = new_key()
    assert (name_of(key), len(name_of(key))) == (name_of(key), 6)
    assert {*name_of(key)} <= {*LETTERS}
    assert name_of(key) != name_of(new_key())
    for wrong in ("", key[1:], f"{key}0", key.replace(key[0], "!"), *HOSTILE):
        assert not name_of(wrong)
        with pytest.raises(ValueError, match="not whole"):
            Classes().look(wrong, "a", GUIDE)


def test_a_class_takes_the_last_code_and_sentence_of_each_pupil_once_its_teacher_has_come():
    classes, key = Classes(), new_key()
    name = name_of(key)
    assert (classes.tell(name, "1", "4W-NH"), classes.find(name)) == (False, None)
    classes.look(key, "a", ("link", "abc"))
    for pupil, code in (("1", "4W-NH"), ("2", "4W-NH"), ("1", "5W-NH")):
        assert classes.tell(name, pupil, code)
    assert classes.send(name, "2", " a\n cat \u202e sat ")
    room = classes.look(key, "a", ("link", "abc"))
    assert (room.codes, room.sentences) == (["5W-NH", "4W-NH"], ["a cat sat"])
    assert room.lesson == ("link", "abc")


def test_what_is_taken_away_comes_back_beside_what_has_come_since():
    classes, key = Classes(), new_key()
    name = name_of(key)
    classes.look(key, "a", GUIDE)
    classes.tell(name, "1", "4W-NH")
    classes.send(name, "1", "a cat sat")
    classes.drop_sentence(key, "a cat sat")
    assert classes.look(key, "a", GUIDE).sentences == []
    classes.undo(key)
    assert classes.look(key, "a", GUIDE).sentences == ["a cat sat"]
    classes.empty(key)
    classes.tell(name, "2", "5W-NH")
    assert classes.look(key, "a", GUIDE).codes == ["5W-NH"]
    classes.undo(key)
    assert sorted(classes.look(key, "a", GUIDE).codes) == ["4W-NH", "5W-NH"]
    classes.undo(key)
    assert len(classes.look(key, "a", GUIDE).codes) == 2


def test_classes_pupils_letters_and_hours_are_bounded():
    now = [0.0]
    classes, keys = Classes(lambda: now[0]), [new_key() for _ in range(MOST_CLASSES)]
    half = MOST_CLASSES // 2
    for key in keys[:half]:
        classes.look(key, "a", GUIDE)
    with pytest.raises(NoRoom, match="as many classes"):
        classes.look(keys[half], "a", GUIDE)
    assert classes.look(keys[half], "b", GUIDE).address == "b"
    name = name_of(keys[0])
    assert [classes.tell(name, f"{pupil}", "4W-NH") for pupil in range(MOST_PUPILS)].count(True)
    assert not classes.tell(name, "another", "4W-NH")
    assert classes.tell(name, "7", "5W-NH")
    assert not classes.tell(name, "7", "A" * (LONGEST_CODE + 1))
    classes.send(name, "7", "a" * (LONGEST_SENTENCE + 1))
    assert [*map(len, classes.look(keys[0], "a", GUIDE).sentences)] == [LONGEST_SENTENCE]
    now[0] = 3600.0 * HOURS - 1
    classes.look(keys[0], "a", GUIDE)
    now[0] += 2
    classes.look(keys[1], "a", GUIDE)
    assert classes.find(name) is not None
    assert classes.find(name_of(keys[2])) is None
