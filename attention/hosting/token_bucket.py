"""So much at once, so much for long: a token bucket."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Pace:
    """Rate at which something may be taken: `rate` a second for long, `burst` at once.

    left: what may be taken now, below 0 what was taken too early.
    """

    rate: float
    burst: float
    left: float
    at: float

    @classmethod
    def full(cls, rate: float, burst: float, now: float) -> Pace:
        """One of which nothing was taken yet."""
        return cls(rate, burst, burst, now)

    def spare(self, amount: float, now: float) -> bool:
        """Take some if so much is left; otherwise nothing is taken."""
        self.take(0, now)
        enough = self.left >= amount
        if enough:
            self.left -= amount
        return enough

    def take(self, amount: float, now: float) -> float:
        """Take some; gives the seconds to wait until nothing is taken too early."""
        self.left = min(self.burst, self.left + (now - self.at) * self.rate) - amount
        self.at = now
        return max(0.0, -self.left / self.rate)
