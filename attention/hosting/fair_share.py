"""Fair share of the processor: whoever had least of it lately goes first."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

from cachetools import LRUCache

from attention.hosting.addresses import networks

HALF_LIFE = 30.0  # seconds after which half of what was taken is forgotten
REMEMBERED = 10_000


@dataclass
class FairShare:
    """Seconds of a core, by who took them; the longer ago, the less they count.

    Of an address those count as well that others of its networks took, see `addresses.networks`.
    Times are those of a clock in seconds, given by whoever asks.
    """

    half_life: float = HALF_LIFE
    _used: LRUCache[Hashable, tuple[float, float]] = field(
        default_factory=lambda: LRUCache(REMEMBERED)
    )

    def used_by(self, who: Hashable, now: float) -> float:
        """The seconds of somebody that still count."""
        return max(self._left_of(name, now) / times for name, times in _names(who))

    def charge(self, who: Hashable, seconds: float, now: float) -> None:
        """Count some more."""
        for name, _ in _names(who):
            self._used[name] = self._left_of(name, now) + seconds, now

    def _left_of(self, name: Hashable, now: float) -> float:
        seconds, since = self._used.get(name, (0.0, now))
        return float(seconds * 0.5 ** (max(0.0, now - since) / self.half_life))


def _names(who: Hashable) -> list[tuple[Hashable, float]]:
    """Names under which somebody's seconds count, and how many times as much each may have."""
    if not isinstance(who, str):
        return [(who, 1.0)]
    return [(each.name, each.times) for each in networks(who)]
