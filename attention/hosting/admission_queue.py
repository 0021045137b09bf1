"""Admission queue: visitors who have a place, and those who wait for one."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

RESERVED_SECONDS = 10.0  # that a place stays free for a visitor on their way, or back
WAITING_SECONDS = 15.0  # after which somebody visitor no longer asks has given up
MAX_WAITING = 5000


class Visitor(NamedTuple):
    """A visitor: the address they come from, and a name, of which an address may have many."""

    address: str
    name: str


@dataclass
class Admitted:
    """Connections of a visitor, and until when a place is reserved where there are none."""

    connections: int = 0
    until: float = 0.0

    @property
    def places(self) -> int:
        """One for each connection; one is kept for whoever is on their way."""
        return max(1, self.connections)


@dataclass
class AdmissionQueue:
    """So many places, one for each connection; the others wait in the order they came.

    per_address: the most places that one address may have; its further visitors let those of other
    addresses pass. opening: by address, connections that have no place since they said nothing yet.
    Times are those of a clock in seconds, given by whoever asks.
    """

    places: int
    per_address: int
    admitted: dict[Visitor, Admitted] = field(default_factory=dict)
    waiting: dict[Visitor, float] = field(default_factory=dict)
    opening: Counter[str] = field(default_factory=Counter)

    @property
    def free(self) -> int:
        """Number of free places."""
        return self.places - sum(admitted.places for admitted in self.admitted.values())

    def position(self, visitor: Visitor, now: float, wait: bool = True) -> int:
        """Position of a visitor in the queue, counted from 1; 0: they are admitted.

        wait: whether they are put into the queue, or are told where they would stand.
        """
        self._expire(now)
        if visitor in self.admitted or (visitor not in self.waiting and self._has_place(visitor)):
            self.waiting.pop(visitor, None)
            return 0
        if visitor in self.waiting or (wait and self._queue_takes(visitor)):
            self.waiting[visitor] = now
        ahead, left = self._ahead_of(visitor)
        if visitor not in self.waiting or left <= 0 or ahead >= self.free:
            return ahead + 1
        del self.waiting[visitor]
        self.admitted[visitor] = Admitted(until=now + RESERVED_SECONDS)
        return 0

    def admits(self, visitor: Visitor, now: float) -> bool:
        """True if a connection may be opened, which has no place until something is said on it."""
        self._expire(now)
        if self._has_reservation(visitor):
            return self.opening[visitor.address] < self.per_address
        return self._has_place(visitor)

    def connect(self, visitor: Visitor, now: float) -> bool:
        """True if there is a place for a connection; it is then one of the visitor's."""
        self._expire(now)
        if not (self._has_reservation(visitor) or self._has_place(visitor)):
            return False
        self.waiting.pop(visitor, None)
        self.admitted.setdefault(visitor, Admitted()).connections += 1
        return True

    def leave(self, visitor: Visitor, now: float) -> None:
        """One of a visitor's connections has ended; they may come back, as after a reload."""
        place = self.admitted[visitor]
        place.connections -= 1
        place.until = now + RESERVED_SECONDS

    @contextlib.contextmanager
    def opening_connection(self, address: str) -> Iterator[None]:
        """For as long as a connection from an address is open and has said nothing yet."""
        self.opening[address] += 1
        try:
            yield
        finally:
            self.opening[address] -= 1
            if not self.opening[address]:
                del self.opening[address]

    def is_crowded(self, address: str) -> bool:
        """True if an address has all places that one may have, while others are free."""
        return self._places_by_address()[address] >= self.per_address and self.free > 0

    def _has_reservation(self, visitor: Visitor) -> bool:
        place = self.admitted.get(visitor)
        return place is not None and not place.connections

    def _has_place(self, visitor: Visitor) -> bool:
        """True if there is a place for one more connection, beside those who wait for one."""
        ahead, left = self._ahead_of(visitor)
        return self.free > ahead and left > self.opening[visitor.address]

    def _queue_takes(self, visitor: Visitor) -> bool:
        """True if the queue takes one more of an address, which could else fill it."""
        same_address = sum(each.address == visitor.address for each in self.waiting)
        return len(self.waiting) < MAX_WAITING and same_address < self.per_address

    def _ahead_of(self, visitor: Visitor) -> tuple[int, int]:
        """Number of those before somebody, and of the places their address has left by then.

        Of those who wait for their own address alone, only that one's are before somebody.
        """
        ahead, places = 0, self._places_by_address()
        for each in self.waiting:
            if each == visitor:
                break
            places[each.address] += 1
            ahead += places[each.address] <= self.per_address or each.address == visitor.address
        return ahead, self.per_address - places[visitor.address]

    def _places_by_address(self) -> Counter[str]:
        """Number of places of each address."""
        places: Counter[str] = Counter()
        for visitor, place in self.admitted.items():
            places[visitor.address] += place.places
        return places

    def _expire(self, now: float) -> None:
        """Let go those who may no longer come, and those who wait no longer."""
        self.admitted = {
            visitor: place
            for visitor, place in self.admitted.items()
            if place.connections or place.until >= now
        }
        oldest = now - WAITING_SECONDS
        self.waiting = {n: last for n, last in self.waiting.items() if last >= oldest}
