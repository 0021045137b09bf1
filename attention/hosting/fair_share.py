"""Shares of the processor that everybody has had lately: whoever had least goes first."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

from cachetools import LRUCache

HALF = 30.0  # seconds after which half of what was taken is forgotten
REMEMBERED = 10_000


@dataclass
class Spending:
    """Seconds of a core, by who took them; the longer ago, the less they count.

    Times are those of a clock in seconds, given by whoever asks.
    """

    half: float = HALF
    _taken: LRUCache[Hashable, tuple[float, float]] = field(
        default_factory=lambda: LRUCache(REMEMBERED)
    )

    def of(self, who: Hashable, now: float) -> float:
        """The seconds that count at a time."""
        seconds, at = self._taken.get(who, (0.0, now))
        return float(seconds * 0.5 ** (max(0.0, now - at) / self.half))

    def take(self, who: Hashable, seconds: float, now: float) -> None:
        """Take some more."""
        self._taken[who] = self.of(who, now) + seconds, now
