"""Who is in, and who waits for a place."""

from __future__ import annotations

from dataclasses import dataclass, field

KEPT = 10.0  # seconds that a place stays free for a visitor on their way, or back
WAITING = 15.0  # seconds after which somebody who no longer asks has given up
MAX_WAITING = 5000


@dataclass
class Visitor:
    """Somebody who has a place: how many connections they have, and until when they may come."""

    connections: int = 0
    until: float = 0.0


@dataclass
class Room:
    """So many places, one for each connection; the others wait in the order they came.

    Times are those of a clock in seconds, given by whoever asks.
    """

    places: int
    inside: dict[str, Visitor] = field(default_factory=dict)
    waiting: dict[str, float] = field(default_factory=dict)

    @property
    def free(self) -> int:
        """How many places are free; one is kept for whoever is on their way."""
        return self.places - sum(max(1, visitor.connections) for visitor in self.inside.values())

    def ask(self, name: str, now: float) -> int:
        """The place of a visitor in the queue, counted from 1; 0: they may come in."""
        self._let_go(now)
        if name in self.inside or self.free > len(self.waiting):
            self.waiting.pop(name, None)
            return 0
        if name in self.waiting or len(self.waiting) < MAX_WAITING:
            self.waiting[name] = now
        ahead = [*self.waiting].index(name) if name in self.waiting else MAX_WAITING
        if ahead >= self.free:
            return ahead + 1
        del self.waiting[name]
        self.inside[name] = Visitor(until=now + KEPT)
        return 0

    def connect(self, name: str, now: float) -> bool:
        """Whether a connection may be opened; it is then one of the visitor's."""
        self._let_go(now)
        visitor = self.inside.get(name)
        expected = visitor is not None and not visitor.connections
        if not expected and self.free <= len(self.waiting):
            return False
        self.inside.setdefault(name, Visitor()).connections += 1
        return True

    def leave(self, name: str, now: float) -> None:
        """One of a visitor's connections has ended; they may come back, as after a reload."""
        visitor = self.inside[name]
        visitor.connections -= 1
        visitor.until = now + KEPT

    def _let_go(self, now: float) -> None:
        """Those who may no longer come, and those who wait no longer."""
        self.inside = {
            name: visitor
            for name, visitor in self.inside.items()
            if visitor.connections or visitor.until >= now
        }
        self.waiting = {n: asked for n, asked in self.waiting.items() if asked >= now - WAITING}
