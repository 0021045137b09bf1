"""Fair share of the processor: whoever had least of it lately goes first."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

from cachetools import LRUCache

HALF_LIFE = 30.0  # seconds after which half of what was taken is forgotten
REMEMBERED = 10_000


@dataclass
class FairShare:
    """Seconds of a core, by who took them; the longer ago, the less they count.

    Times are those of a clock in seconds, given by whoever asks.
    """

    half_life: float = HALF_LIFE
    _used: LRUCache[Hashable, tuple[float, float]] = field(
        default_factory=lambda: LRUCache(REMEMBERED)
    )

    def used_by(self, who: Hashable, now: float) -> float:
        """The seconds of somebody that still count."""
        seconds, since = self._used.get(who, (0.0, now))
        return float(seconds * 0.5 ** (max(0.0, now - since) / self.half_life))

    def charge(self, who: Hashable, seconds: float, now: float) -> None:
        """Count some more."""
        self._used[who] = self.used_by(who, now) + seconds, now
