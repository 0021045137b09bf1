"""Classes that are under way: what their pupils have chosen, in the memory of this process.

A class has a name, which its pupils' links carry, and a key, which its teacher alone has. The name
follows from the key, but is short enough to find another key for it: a digest of the whole key is
kept, and asked for by all that a teacher does. A class is here for as long as its teacher looks at
it, and a few hours longer; nothing of it is written anywhere.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from attention.core.settings import text
from attention.hosting.addresses import networks
from attention.inputs.text import plain
from attention.subjects.guide.carried import LETTERS
from attention.subjects.guide.votes import Ballot, Move

KEY_LETTERS, NAME_LETTERS = 16, 6
MOST_CLASSES, MOST_PUPILS = 100, 240
LONGEST_SENTENCE = 200
HOURS = 3  # that a class is kept when nobody looks at it

Question = tuple[str, str, str]  # the lesson, its text where a link carries it, the chapter's name


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
    """A browser that has opened the link of a class. address: where it comes from; sentence: the
    last one sent, "" for none."""

    address: str = ""
    sentence: str = ""
    has_voted: bool = False

    @property
    def is_idle(self) -> bool:
        """True if it has never voted, and none of its sentences is on the class's screen."""
        return not (self.has_voted or self.sentence)


@dataclass(frozen=True)
class Room:
    """A class. address: where its teacher comes from; digest: of its key; at: the question on its
    screen; pupils: by the names of their browsers; ballots: of the questions voted on; used: when
    its teacher last looked; before: pupils, and ballots taken away, as they were until then;
    is_open: whether others may still join."""

    address: str
    digest: bytes
    at: Question = ("guide", "", "")
    pupils: Mapping[str, Pupil] = field(default_factory=dict)
    ballots: Mapping[Question, Ballot] = field(default_factory=dict)
    used: float = 0.0
    before: tuple[Mapping[str, Pupil], Mapping[Question, Ballot]] | None = None
    is_open: bool = True

    @property
    def is_idle(self) -> bool:
        """True if nobody has joined."""
        return not (self.pupils or self.before)

    def ballot(self, question: Question) -> Ballot:
        """The votes on a question."""
        return self.ballots.get(question, Ballot())

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
    return "".join(LETTERS[byte % len(LETTERS)] for byte in digest_of(key)[:NAME_LETTERS])


def digest_of(key: str) -> bytes:
    """Digest of a key, of which a name is too short a part to prove that one has it."""
    return hashlib.sha256(key.encode()).digest()


Held = TypeVar("Held", Pupil, Room)


def make_place(held: dict[str, Held], address: str, most: int) -> bool:
    """True if there is a place for one more from an address, by letting an idle one go if need be.

    most: the number of places. Each network of the address has its share of those that others leave
    who are not idle. The oldest idle one goes first, in the smallest network that is full.
    """
    busy = {name for name, each in held.items() if not each.is_idle}
    crowds: list[tuple[list[str], float]] = []
    for network in networks(address):
        ours = [name for name, each in held.items() if network in networks(each.address)]
        crowds.append((ours, network.share * (most - len(busy.difference(ours)))))
    for names, places in (*crowds, ([*held], most)):
        if len(names) >= places:
            idle = next((name for name in names if name not in busy), None)
            return idle is not None and held.pop(idle) is not None
    return True


class Classes:
    """The classes of this process, each by its name. now: gives the time in seconds."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._rooms: dict[str, Room] = {}
        self._lock = threading.Lock()
        self._now = now

    def look(self, key: str, address: str, at: Question, turns: bool = True) -> Room:
        """The class of a key, as its teacher looks at it; begun where it is not here.

        address: where the teacher comes from; at: the question looked at; turns: whether the class
        turns to it. Raises NoRoom where there is no room for another,
        ValueError where the key is none, or that of another class with this name.
        """
        name = name_of(key)
        if not name:
            raise ValueError("the key of the class is not whole")
        with self._lock:
            now = self._now()
            for old in [n for n, r in self._rooms.items() if now - r.used > 3600 * HOURS]:
                del self._rooms[old]
            room = self._of(key)
            if room is None and name in self._rooms:
                raise ValueError("it has another key")
            if room is None:
                if not make_place(self._rooms, address, MOST_CLASSES):
                    raise NoRoom("there are as many classes here as there may be; try again later")
                room = Room(address, digest_of(key), at)
            self._rooms.pop(name, None)  # the last one looked at is the last to be given up
            self._rooms[name] = room = replace(room, used=now, at=at if turns else room.at)
            return room

    def _of(self, key: str) -> Room | None:
        """The class of a key, None where it is not here or has another one."""
        room = self._rooms.get(name_of(key))
        ours = room is not None and hmac.compare_digest(room.digest, digest_of(key))
        return room if ours else None

    def find(self, name: str) -> Room | None:
        """The class of a name, None where it is not here."""
        with self._lock:
            return self._rooms.get(name)

    def join(self, name: str, pupil: str, address: str = "") -> bool:
        """True if a pupil is in a class; False where there is no such class, or no place in it.

        pupil: the name of their browser; address: where they come from.
        """
        return self._change(name, pupil, address, lambda room: room)

    def vote(
        self, name: str, pupil: str, question: Question, choice: int | None, address: str = ""
    ) -> bool:
        """Take the choice of a pupil in the open vote on a question, if one is open; False as in
        `join`. choice: None = none any more."""

        def voted(room: Room) -> Room:
            ballot = room.ballot(question)
            now = ballot.voted(pupil, choice)
            if now is ballot:
                return room
            pupils = {**room.pupils, pupil: replace(room.pupils[pupil], has_voted=True)}
            return replace(room, pupils=pupils, ballots={**room.ballots, question: now})

        return self._change(name, pupil, address, voted)

    def send(self, name: str, pupil: str, sentence: str, address: str = "") -> bool:
        """Take a sentence of a pupil in place of the one before; False as in `join`."""
        shown = " ".join(plain(sentence).split())[:LONGEST_SENTENCE]

        def sent(room: Room) -> Room:
            pupils = {**room.pupils, pupil: replace(room.pupils[pupil], sentence=shown)}
            return replace(room, pupils=pupils)

        return self._change(name, pupil, address, sent)

    def _change(self, name: str, pupil: str, address: str, make: Callable[[Room], Room]) -> bool:
        with self._lock:
            room = self._rooms.get(name)
            if room is None:
                return False
            if pupil not in room.pupils:
                pupils = {**room.pupils}
                if not (room.is_open and make_place(pupils, address, MOST_PUPILS)):
                    return False
                room = replace(room, pupils={**pupils, pupil: Pupil(address)})
            self._rooms[name] = make(room)
            return True

    def move(self, key: str, question: Question, move: Move) -> None:
        """Lead the votes on a question on; `undo` brings those back that "anew" clears."""

        def moved(room: Room) -> Room:
            ballot = room.ballot(question)
            before = (room.pupils, {question: ballot}) if move == "anew" else room.before
            ballots = {**room.ballots, question: ballot.moved(move)}
            return replace(room, ballots=ballots, before=before)

        self._set(key, moved)

    def open_or_close(self, key: str, is_open: bool) -> None:
        """Let others join, or only those go on who have."""
        self._set(key, lambda room: replace(room, is_open=is_open))

    def drop_sentence(self, key: str, sentence: str) -> None:
        """Take a sentence off the class's screen; `undo` brings it back."""

        def dropped(room: Room) -> Room:
            pupils = {
                name: replace(one, sentence="") if one.sentence == sentence else one
                for name, one in room.pupils.items()
            }
            return replace(room, pupils=pupils, before=(room.pupils, {}))

        self._set(key, dropped)

    def empty(self, key: str) -> None:
        """Begin anew, with the next group; `undo` brings all back."""
        self._set(
            key,
            lambda room: replace(room, pupils={}, ballots={}, before=(room.pupils, room.ballots)),
        )

    def undo(self, key: str) -> None:
        """Bring back what was taken away last; what came since stays, but votes on a question that
        has its own back."""

        def undone(room: Room) -> Room:
            pupils, (gone, ballots) = {**room.pupils}, room.before or ({}, {})
            for name, one in gone.items():
                now = pupils.get(name, one)
                sentence, voted = now.sentence or one.sentence, now.has_voted or one.has_voted
                pupils[name] = replace(now, sentence=sentence, has_voted=voted)
            ballots = {**room.ballots, **ballots}
            return replace(room, pupils=pupils, ballots=ballots, before=None)

        self._set(key, undone)

    def _set(self, key: str, make: Callable[[Room], Room]) -> None:
        """Have another class in place of that of a key, if it is here."""
        with self._lock:
            if room := self._of(key):
                self._rooms[name_of(key)] = make(room)


CLASSES = Classes()
