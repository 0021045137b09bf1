"""Visitors who are in, and those who wait for a place."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

KEPT = 10.0  # seconds that a place stays free for a visitor on their way, or back
WAITING = 15.0  # seconds after which somebody who no longer asks has given up
MAX_WAITING = 5000


class Who(NamedTuple):
    """A visitor: the address they come from, and a name, of which an address may have many."""

    address: str
    name: str


@dataclass
class Visitor:
    """Somebody who has a place: how many connections they have, and until when they may come."""

    connections: int = 0
    until: float = 0.0

    @property
    def places(self) -> int:
        """One for each connection; one is kept for whoever is on their way."""
        return max(1, self.connections)


@dataclass
class Room:
    """So many places, one for each connection; the others wait in the order they came.

    of_address: the most places that one address may have; its further visitors let those of other
    addresses pass. silent: by address, connections that have no place since they said nothing yet.
    Times are those of a clock in seconds, given by whoever asks.
    """

    places: int
    of_address: int
    inside: dict[Who, Visitor] = field(default_factory=dict)
    waiting: dict[Who, float] = field(default_factory=dict)
    silent: Counter[str] = field(default_factory=Counter)

    @property
    def free(self) -> int:
        """Number of free places."""
        return self.places - sum(visitor.places for visitor in self.inside.values())

    def ask(self, who: Who, now: float, wait: bool = True) -> int:
        """The place of a visitor in the queue, counted from 1; 0: they may come in.

        wait: whether they are put into the queue, or are told where they would stand.
        """
        self._let_go(now)
        if who in self.inside or (who not in self.waiting and self._has_place(who)):
            self.waiting.pop(who, None)
            return 0
        if who in self.waiting or (wait and self._may_wait(who)):
            self.waiting[who] = now
        ahead, left = self._before(who)
        if who not in self.waiting or left <= 0 or ahead >= self.free:
            return ahead + 1
        del self.waiting[who]
        self.inside[who] = Visitor(until=now + KEPT)
        return 0

    def admits(self, who: Who, now: float) -> bool:
        """True if a connection may be opened, which has no place until something is said on it."""
        self._let_go(now)
        if self._is_expected(who):
            return self.silent[who.address] < self.of_address
        return self._has_place(who)

    def connect(self, who: Who, now: float) -> bool:
        """True if there is a place for a connection; it is then one of the visitor's."""
        self._let_go(now)
        if not (self._is_expected(who) or self._has_place(who)):
            return False
        self.waiting.pop(who, None)
        self.inside.setdefault(who, Visitor()).connections += 1
        return True

    def leave(self, who: Who, now: float) -> None:
        """One of a visitor's connections has ended; they may come back, as after a reload."""
        visitor = self.inside[who]
        visitor.connections -= 1
        visitor.until = now + KEPT

    @contextlib.contextmanager
    def one_silent(self, address: str) -> Iterator[None]:
        """For as long as a connection from an address is open and has said nothing yet."""
        self.silent[address] += 1
        try:
            yield
        finally:
            self.silent[address] -= 1
            if not self.silent[address]:
                del self.silent[address]

    def is_crowded(self, address: str) -> bool:
        """True if an address has all places that one may have, while others are free."""
        return self._taken()[address] >= self.of_address and self.free > 0

    def _is_expected(self, who: Who) -> bool:
        visitor = self.inside.get(who)
        return visitor is not None and not visitor.connections

    def _has_place(self, who: Who) -> bool:
        """True if there is a place for one more connection, beside those who wait for one."""
        ahead, left = self._before(who)
        return self.free > ahead and left > self.silent[who.address]

    def _may_wait(self, who: Who) -> bool:
        """True if the queue takes one more of an address, which could else fill it."""
        of_address = sum(each.address == who.address for each in self.waiting)
        return len(self.waiting) < MAX_WAITING and of_address < self.of_address

    def _before(self, who: Who) -> tuple[int, int]:
        """Number of those before somebody, and of the places their address has left by then.

        Of those who wait for their own address alone, only that one's are before somebody.
        """
        ahead, taken = 0, self._taken()
        for each in self.waiting:
            if each == who:
                break
            taken[each.address] += 1
            ahead += taken[each.address] <= self.of_address or each.address == who.address
        return ahead, self.of_address - taken[who.address]

    def _taken(self) -> Counter[str]:
        """Number of places of each address."""
        taken: Counter[str] = Counter()
        for who, visitor in self.inside.items():
            taken[who.address] += visitor.places
        return taken

    def _let_go(self, now: float) -> None:
        """Let go those who may no longer come, and those who wait no longer."""
        self.inside = {
            who: visitor
            for who, visitor in self.inside.items()
            if visitor.connections or visitor.until >= now
        }
        self.waiting = {n: asked for n, asked in self.waiting.items() if asked >= now - WAITING}
