"""Classes that are under way: what their pupils have chosen, in the memory of this process.

A class has a name, which its pupils' links carry, and a key, which its teacher's link alone has:
the name follows from the key, so that the link is all that a teacher has to keep. A class is here
for as long as its teacher looks at it, and a few hours longer; nothing of it is written anywhere.
"""

from __future__ import annotations

import hashlib
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from attention.core.settings import text
from attention.inputs.text import plain
from attention.subjects.guide.carried import LETTERS

KEY_LETTERS, NAME_LETTERS = 16, 6
MOST_CLASSES, MOST_PUPILS = 100, 120
LONGEST_CODE, LONGEST_SENTENCE = 80, 200
HOURS = 3  # that a class is kept when nobody looks at it


@dataclass(frozen=True)
class ClassSettings:
    """The class that a pupil belongs to."""

    room: str = text("", "Class", NAME_LETTERS)


@dataclass(frozen=True)
class TeacherSettings:
    """The key of a class's teacher, and the codes that were typed or pasted."""

    teacher: str = text("", "Key of the class", KEY_LETTERS)
    codes: str = text("", "Codes of the class", 1800)


class NoRoom(ValueError):
    """There are as many classes as there may be."""


@dataclass(frozen=True)
class Pupil:
    """One who has opened the link of a class. code: of all choices so far; sentence: the last one
    sent, "" for none."""

    code: str = ""
    sentence: str = ""


@dataclass(frozen=True)
class Room:
    """A class. lesson: what its links say of its lesson; pupils: by the names of their visits;
    used: when its teacher last looked; before: its pupils until they were taken away."""

    address: str
    lesson: tuple[str, str] = ("guide", "")
    pupils: Mapping[str, Pupil] = field(default_factory=dict)
    used: float = 0.0
    before: Mapping[str, Pupil] | None = None

    @property
    def codes(self) -> list[str]:
        """The codes of all pupils."""
        return [pupil.code for pupil in self.pupils.values() if pupil.code]

    @property
    def sentences(self) -> list[str]:
        """All sentences sent, each once."""
        return [*dict.fromkeys(each.sentence for each in self.pupils.values() if each.sentence)]


def new_key() -> str:
    """A key for a class, which nobody can guess: 80 bits."""
    return "".join(secrets.choice(LETTERS) for _ in range(KEY_LETTERS))


def name_of(key: str) -> str:
    """The name of the class of a key, "" where that is none."""
    if len(key) != KEY_LETTERS or set(key) - set(LETTERS):
        return ""
    digest = hashlib.sha256(key.encode()).digest()
    return "".join(LETTERS[byte % len(LETTERS)] for byte in digest[:NAME_LETTERS])


class Classes:
    """The classes of this process, each by its name. now: gives the time in seconds."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._rooms: dict[str, Room] = {}
        self._lock = threading.Lock()
        self._now = now

    def look(self, key: str, address: str, lesson: tuple[str, str]) -> Room:
        """The class of a key, as its teacher looks at it; begun where it is not here.

        address: where the teacher comes from: one may begin no more classes than it leaves free.
        Raises NoRoom where there is no room for another, ValueError where the key is none.
        """
        name = name_of(key)
        if not name:
            raise ValueError("the key of the class is not whole")
        with self._lock:
            now = self._now()
            for old in [n for n, r in self._rooms.items() if now - r.used > 3600 * HOURS]:
                del self._rooms[old]
            room = self._rooms.get(name)
            if room is None:
                ours = sum(each.address == address for each in self._rooms.values())
                if ours >= MOST_CLASSES - len(self._rooms):
                    raise NoRoom("there are as many classes here as there may be; try again later")
                room = Room(address)
            self._rooms[name] = room = replace(room, used=now, lesson=lesson)
            return room

    def find(self, name: str) -> Room | None:
        """The class of a name, None where it is not here."""
        with self._lock:
            return self._rooms.get(name)

    def tell(self, name: str, pupil: str, code: str) -> bool:
        """Take the code of a pupil in place of the one before; False where there is no such class,
        or no place in it."""
        known = len(code) <= LONGEST_CODE
        return known and self._change(name, pupil, lambda before: replace(before, code=code))

    def send(self, name: str, pupil: str, sentence: str) -> bool:
        """Take a sentence of a pupil in place of the one before; False as in `tell`."""
        shown = " ".join(plain(sentence).split())[:LONGEST_SENTENCE]
        return self._change(name, pupil, lambda before: replace(before, sentence=shown))

    def _change(self, name: str, pupil: str, make: Callable[[Pupil], Pupil]) -> bool:
        with self._lock:
            room = self._rooms.get(name)
            if room is None or (pupil not in room.pupils and len(room.pupils) >= MOST_PUPILS):
                return False
            pupils = {**room.pupils, pupil: make(room.pupils.get(pupil, Pupil()))}
            self._rooms[name] = replace(room, pupils=pupils)
            return True

    def drop_sentence(self, key: str, sentence: str) -> None:
        """Take a sentence off the class's screen; `undo` brings it back."""
        self._replace(
            key,
            lambda pupils: {
                name: replace(one, sentence="") if one.sentence == sentence else one
                for name, one in pupils.items()
            },
        )

    def empty(self, key: str) -> None:
        """Begin anew, with the next group; `undo` brings all back."""
        self._replace(key, lambda pupils: {})

    def undo(self, key: str) -> None:
        """Bring back what was taken away last; what came since stays."""
        with self._lock:
            room = self._rooms.get(name_of(key))
            if room is not None and room.before is not None:
                pupils = {**room.pupils}
                for name, one in room.before.items():
                    now = pupils.get(name, one)
                    pupils[name] = replace(now, sentence=now.sentence or one.sentence)
                self._rooms[name_of(key)] = replace(room, pupils=pupils, before=None)

    def _replace(
        self, key: str, make: Callable[[Mapping[str, Pupil]], Mapping[str, Pupil]]
    ) -> None:
        with self._lock:
            room = self._rooms.get(name_of(key))
            if room is not None:
                pupils = make(room.pupils)
                self._rooms[name_of(key)] = replace(room, pupils=pupils, before=room.pupils)


CLASSES = Classes()
