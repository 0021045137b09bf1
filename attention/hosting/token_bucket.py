"""A token bucket: so much at once, so much a second for long."""

from __future__ import annotations

from dataclasses import dataclass

BURST_SECONDS = 10  # the allowance of so many may be taken at once


@dataclass
class TokenBucket:
    """Rate at which something may be taken: `rate` a second for long, `burst` at once.

    tokens: what may be taken now, below 0 what was taken too early; updated: when, in seconds.
    """

    rate: float
    burst: float
    tokens: float
    updated: float

    @classmethod
    def full(cls, rate: float, burst: float, now: float) -> TokenBucket:
        """A bucket from which nothing was taken yet."""
        return cls(rate, burst, burst, now)

    def try_take(self, now: float) -> bool:
        """Take one if it is left; otherwise nothing is taken."""
        self.take(0, now)
        enough = self.tokens >= 1
        self.tokens -= enough
        return enough

    def take(self, amount: float, now: float) -> float:
        """Take some; gives the seconds to wait until nothing is taken too early."""
        self.tokens = min(self.burst, self.tokens + (now - self.updated) * self.rate) - amount
        self.updated = now
        return max(0.0, -self.tokens / self.rate)
