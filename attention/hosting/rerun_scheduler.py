"""Scheduler of reruns: one after the other, but none waits long for a long one or one address."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from attention.hosting.addresses import networks
from attention.hosting.fair_share import FairShare

POLL = 0.5  # seconds
FIRST_EVERY = 1.0  # seconds after which a first page goes before those who have theirs


@dataclass(eq=False)
class Waiter:
    """A rerun that waits for its turn: where it comes from, since when it waits, and if its visitor
    has no page yet; is_called: it was next when that was last looked at, and wakes was notified."""

    address: str
    since: float
    is_first: bool
    wakes: threading.Condition
    is_called: bool = False


@dataclass
class RerunScheduler:
    """Gives the turn to one rerun at a time, after a quantum of seconds also to the next beside it.

    max_running: how many may run beside each other; one address leaves one of them to the others.
    Each rerun stands in line as if it had come later by what its address had of the processor, see
    `fair_share`. First pages let all others pass, but for one in `FIRST_EVERY` seconds, and leave
    them one place: whoever comes in waits, and nobody who is inside waits for many who come in.
    """

    quantum: float
    max_running: int = 4
    fair_share: FairShare = field(default_factory=FairShare)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _waiting: list[Waiter] = field(default_factory=list)
    _running: list[Waiter] = field(default_factory=list)
    _turn: Waiter | None = None
    _until: float = 0.0
    _first_began: float = 0.0

    @contextlib.contextmanager
    def turn(
        self,
        address: str = "",
        still_wanted: Callable[[], object] = bool,
        is_first: bool = False,
    ) -> Iterator[None]:
        """Wait for a turn, and have it for as long as the block runs, alone for the quantum.

        still_wanted: is asked again and again while it waits, and raises where the turn is not.
        """
        with self._lock:
            now = time.monotonic()
            waiter = Waiter(address, now, is_first, threading.Condition(self._lock))
            self._waiting.append(waiter)
            self._call_next()
            poll = now + POLL
            try:
                while not self._may_begin(waiter):
                    waiter.wakes.wait(min(self._left(), POLL) if waiter.is_called else POLL)
                    if time.monotonic() > poll:
                        self._ask(still_wanted)
                        poll = time.monotonic() + POLL
            except BaseException:
                self._waiting.remove(waiter)
                self._call_next()
                raise
            self._waiting.remove(waiter)
            self._running.append(waiter)
            now = time.monotonic()
            self._turn, self._until = waiter, now + self.quantum
            self._first_began = now if is_first else self._first_began
            self._call_next()
        try:
            yield
        finally:
            with self._lock:
                self._running.remove(waiter)
                if self._turn is waiter:
                    self._turn = None
                self._call_next()

    def should_yield_to(self, address: str) -> bool:
        """True if somebody waits whose address had no more of the processor than this one."""
        with self._lock:
            now, waiting = time.monotonic(), {waiter.address for waiter in self._waiting}
            used = self.fair_share.used_by(address, now)
            return any(self.fair_share.used_by(other, now) <= used for other in waiting)

    def charge(self, address: str, seconds: float) -> None:
        """Note what an address has had of the processor."""
        with self._lock:
            self.fair_share.charge(address, seconds, time.monotonic())
            self._call_next()  # another one may be next

    def _ask(self, still_wanted: Callable[[], object]) -> None:
        """Ask while others go on."""
        self._lock.release()
        try:
            still_wanted()
        finally:
            self._lock.acquire()

    def _left(self) -> float:
        """For how many seconds somebody has the turn alone."""
        return max(0.0, self._until - time.monotonic()) if self._turn else 0.0

    def _call_next(self) -> None:
        """Wake the one whose turn is next; all others would look in vain."""
        if waiter := self._next():
            waiter.is_called = True
            waiter.wakes.notify()

    def _may_begin(self, waiter: Waiter) -> bool:
        """True if somebody has the turn; who was called too early calls the next one."""
        if waiter.is_called and self._next() is not waiter:
            waiter.is_called = False
            self._call_next()
        return waiter.is_called and not self._left()

    def _stands(self, waiter: Waiter) -> float:
        """Time at which somebody came, and later by what their address had of the processor."""
        return waiter.since + self.fair_share.used_by(waiter.address, time.monotonic())

    def _next(self) -> Waiter | None:
        """Whose turn is next; None where there is no place for anybody."""
        if len(self._running) >= self.max_running:
            return None
        most = max(1, self.max_running - 1)
        running = Counter(network for each in self._running for network in networks(each.address))

        def first_of(is_first: bool) -> Waiter | None:
            free = (
                each
                for each in self._waiting
                if each.is_first == is_first
                and all(running[network] < most for network in networks(each.address))
            )
            return min(free, key=self._stands, default=None)

        inside = first_of(False)
        if sum(each.is_first for each in self._running) >= most:
            return inside
        if inside and time.monotonic() - self._first_began < FIRST_EVERY:
            return inside
        return first_of(True) or inside
