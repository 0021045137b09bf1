"""Admission queue: visitors who have a place, and those who wait for one."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from attention.hosting.addresses import Network, networks

RESERVED_SECONDS = 10.0  # that a place stays free for a visitor on their way, or back
WAITING_SECONDS = 15.0  # after which a visitor who no longer asks has given up
MAX_WAITING = 5000
MAX_ENTERING = 20  # who come in at once; a first page takes some 50 ms, so they do within seconds


class Visitor(NamedTuple):
    """A visitor: the address they come from, and a name, of which an address may have many."""

    address: str
    name: str


@dataclass
class Admitted:
    """Connections of a visitor, and until when a place is reserved where there are none."""

    connections: int = 0
    until: float = 0.0
    is_called: bool = False  # out of the queue, and has not come yet

    @property
    def places(self) -> int:
        """One for each connection; one is kept for whoever is on their way."""
        return max(1, self.connections)


@dataclass
class AdmissionQueue:
    """So many places, one for each connection; the others wait in the order they came.

    per_address: the most places that one address may have, and by it those of a network, see
    `addresses.networks`; its further visitors let those of others pass. opening: by network,
    connections that have no place since they said nothing yet. entering: number of connections
    whose first page is not there; while there are many of these, further visitors queue.
    Times are those of a clock in seconds, given by whoever asks.
    """

    places: int
    per_address: int
    admitted: dict[Visitor, Admitted] = field(default_factory=dict)
    waiting: dict[Visitor, float] = field(default_factory=dict)
    opening: Counter[Network] = field(default_factory=Counter)
    entering: int = 0

    @property
    def free(self) -> int:
        """Number of free places."""
        return self.places - sum(admitted.places for admitted in self.admitted.values())

    def position(self, visitor: Visitor, now: float, wait: bool = True) -> int:
        """Position of a visitor in the queue, counted from 1; 0: they are admitted.

        wait: whether they are put into the queue, or are told where they would stand.
        """
        self._expire(now)
        may_enter = self._may_enter
        if visitor in self.admitted or (
            visitor not in self.waiting and self._has_place(visitor) and may_enter > 0
        ):
            self.waiting.pop(visitor, None)
            return 0
        if visitor in self.waiting or (wait and self._queue_takes(visitor)):
            self.waiting[visitor] = now
        ahead, left = self._ahead_of(visitor)
        if visitor not in self.waiting or left <= 0 or ahead >= min(self.free, may_enter):
            return ahead + 1
        del self.waiting[visitor]
        self.admitted[visitor] = Admitted(until=now + RESERVED_SECONDS, is_called=True)
        return 0

    @property
    def _may_enter(self) -> int:
        """Number of visitors who may come in now, beside those who do or were called to."""
        called = sum(admitted.is_called for admitted in self.admitted.values())
        return MAX_ENTERING - self.entering - called

    def has_entered(self) -> None:
        """The first page of a connection is there."""
        self.entering -= 1

    def admits(self, visitor: Visitor, now: float) -> bool:
        """True if a connection may be opened, which has no place until something is said on it."""
        self._expire(now)
        if self._has_reservation(visitor):
            return self._left(visitor.address, self.opening) > 0
        return self._has_place(visitor)

    def connect(self, visitor: Visitor, now: float) -> bool:
        """True if there is a place for a connection; it is then one of the visitor's."""
        self._expire(now)
        if not (self._has_reservation(visitor) or self._has_place(visitor)):
            return False
        self.waiting.pop(visitor, None)
        place = self.admitted.setdefault(visitor, Admitted())
        place.connections += 1
        place.is_called = False
        return True

    def leave(self, visitor: Visitor, now: float) -> None:
        """One of a visitor's connections has ended; they may come back, as after a reload."""
        place = self.admitted[visitor]
        place.connections -= 1
        place.until = now + RESERVED_SECONDS

    @contextlib.contextmanager
    def opening_connection(self, address: str) -> Iterator[None]:
        """For as long as a connection from an address is open and has said nothing yet."""
        self.opening.update(networks(address))
        try:
            yield
        finally:
            self.opening -= Counter(networks(address))  # forgets whoever has none

    def is_crowded(self, address: str) -> bool:
        """True if an address has all places that one may have, while others are free."""
        return self._left(address, self._places_by_network()) <= 0 and self.free > 0

    def _has_reservation(self, visitor: Visitor) -> bool:
        place = self.admitted.get(visitor)
        return place is not None and not place.connections

    def _has_place(self, visitor: Visitor) -> bool:
        """True if there is a place for one more connection, beside those who wait for one."""
        ahead, left = self._ahead_of(visitor, self.opening)
        return self.free > ahead and left > 0

    def _queue_takes(self, visitor: Visitor) -> bool:
        """True if the queue takes one more of an address, which could else fill it."""
        waiting = Counter(network for each in self.waiting for network in networks(each.address))
        return len(self.waiting) < MAX_WAITING and self._left(visitor.address, waiting) > 0

    def _ahead_of(
        self, visitor: Visitor, opening: Mapping[Network, int] = MappingProxyType({})
    ) -> tuple[int, int]:
        """Number of those before somebody, and of the places their networks have left by then.

        Of those who wait for a network of theirs alone, only that one's are before somebody.
        """
        ahead, places, own = 0, self._places_by_network(), {*networks(visitor.address)}
        for each in self.waiting:
            if each == visitor:
                break
            places.update(networks(each.address))
            full = {name for name in networks(each.address) if places[name] > self._most(name)}
            ahead += not full or not full.isdisjoint(own)
        return ahead, self._left(visitor.address, places + Counter(opening))

    def _most(self, network: Network) -> int:
        """Number of places that a network may have."""
        return min(self.places, int(self.per_address * network.times))

    def _left(self, address: str, counts: Mapping[Network, int]) -> int:
        """Number of places that an address may still have, by the counts of its networks."""
        return min(self._most(each) - counts.get(each, 0) for each in networks(address))

    def _places_by_network(self) -> Counter[Network]:
        """Number of places of each network."""
        places: Counter[Network] = Counter()
        for visitor, place in self.admitted.items():
            places.update(dict.fromkeys(networks(visitor.address), place.places))
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
