"""Scheduler of reruns: one after the other, but none waits long for a long one or one address."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from attention.hosting.fair_share import FairShare

POLL = 0.5  # seconds


@dataclass
class RerunScheduler:
    """Gives the turn to one rerun at a time, after a quantum of seconds also to the next beside it.

    max_running: how many may run beside each other; one address leaves one of them to the others.
    The next is whose address had least of the processor lately, see `fair_share`.
    """

    quantum: float
    max_running: int = 4
    fair_share: FairShare = field(default_factory=FairShare)
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _waiting: dict[object, str] = field(default_factory=dict)
    _running: Counter[str] = field(default_factory=Counter)
    _turn: object = None
    _until: float = 0.0

    @contextlib.contextmanager
    def turn(self, address: str = "", still_wanted: Callable[[], object] = bool) -> Iterator[None]:
        """Wait for a turn, and have it for as long as the block runs, alone for the quantum.

        still_wanted: is asked again and again while it waits, and raises where the turn is not.
        """
        waiter = object()
        with self._changed:
            self._waiting[waiter] = address
            poll = time.monotonic() + POLL
            try:
                while (left := self._left()) > 0 or self._next() is not waiter:
                    self._changed.wait(min(left or POLL, POLL))
                    if time.monotonic() > poll:
                        self._ask(still_wanted)
                        poll = time.monotonic() + POLL
            finally:
                del self._waiting[waiter]
            self._running[address] += 1
            self._turn, self._until = waiter, time.monotonic() + self.quantum
            self._changed.notify_all()
        try:
            yield
        finally:
            with self._changed:
                self._running[address] -= 1
                if self._turn is waiter:
                    self._turn = None
                self._running += Counter()  # forgets whoever has none
                self._changed.notify_all()

    def is_crowded_for(self, address: str) -> bool:
        """True if somebody waits whose address had no more of the processor than this one."""
        with self._changed:
            now, waiting = time.monotonic(), {*self._waiting.values()}
            used = self.fair_share.used_by(address, now)
            return any(self.fair_share.used_by(other, now) <= used for other in waiting)

    def _ask(self, still_wanted: Callable[[], object]) -> None:
        """Ask while others go on."""
        self._changed.release()
        try:
            still_wanted()
        finally:
            self._changed.acquire()
            self._changed.notify_all()  # another one may have been chosen meanwhile

    def charge(self, address: str, seconds: float) -> None:
        """Note what an address has had of the processor."""
        with self._changed:
            self.fair_share.charge(address, seconds, time.monotonic())
            self._changed.notify_all()  # another one may be next

    def _left(self) -> float:
        """For how many seconds somebody has the turn alone."""
        return max(0.0, self._until - time.monotonic()) if self._turn else 0.0

    def _next(self) -> object:
        """Whose turn is next; None where there is no place for anybody."""
        if self._running.total() >= self.max_running:
            return None
        now, most = time.monotonic(), max(1, self.max_running - 1)
        return min(
            (waiter for waiter, address in self._waiting.items() if self._running[address] < most),
            key=lambda waiter: self.fair_share.used_by(self._waiting[waiter], now),
            default=None,
        )
