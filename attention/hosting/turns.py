"""One after the other, but nobody waits long for one who takes long, nor for one address."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from attention.hosting.fair_share import Spending

ASK_AGAIN = 0.5  # seconds


@dataclass
class Turns:
    """Gives the turn to one at a time; after `most` seconds also to the next, beside that one.

    places: how many may be beside each other; one address leaves one of them to the others. The
    next is whose address had least of the processor lately, see `spending`.
    """

    most: float
    places: int = 4
    spending: Spending = field(default_factory=Spending)
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _waiting: dict[object, str] = field(default_factory=dict)
    _under_way: Counter[str] = field(default_factory=Counter)
    _turn: object = None
    _until: float = 0.0

    @contextlib.contextmanager
    def one(self, address: str = "", still_wanted: Callable[[], object] = bool) -> Iterator[None]:
        """Waits for the turn and has it for as long as the block runs, or for the longest time.

        still_wanted: is asked again and again while it waits, and raises where the turn is not.
        """
        turn = object()
        with self._changed:
            self._waiting[turn] = address
            ask = time.monotonic() + ASK_AGAIN
            try:
                while (left := self._left()) > 0 or self._next() is not turn:
                    self._changed.wait(min(left or ASK_AGAIN, ASK_AGAIN))
                    if time.monotonic() > ask:
                        self._ask(still_wanted)
                        ask = time.monotonic() + ASK_AGAIN
            finally:
                del self._waiting[turn]
            self._under_way[address] += 1
            self._turn, self._until = turn, time.monotonic() + self.most
            self._changed.notify_all()
        try:
            yield
        finally:
            with self._changed:
                self._under_way[address] -= 1
                if self._turn is turn:
                    self._turn = None
                self._under_way += Counter()  # forgets whoever has none
                self._changed.notify_all()

    def is_crowded_for(self, address: str) -> bool:
        """True if somebody waits whose address had no more of the processor than this one."""
        with self._changed:
            now, waiting = time.monotonic(), {*self._waiting.values()}
            own = self.spending.of(address, now)
            return any(self.spending.of(other, now) <= own for other in waiting)

    def _ask(self, still_wanted: Callable[[], object]) -> None:
        """Ask while others go on."""
        self._changed.release()
        try:
            still_wanted()
        finally:
            self._changed.acquire()
            self._changed.notify_all()  # another one may have been chosen meanwhile

    def take(self, address: str, seconds: float) -> None:
        """Note what an address has had of the processor."""
        with self._changed:
            self.spending.take(address, seconds, time.monotonic())
            self._changed.notify_all()  # another one may be next

    def _left(self) -> float:
        """For how many seconds somebody has the turn alone."""
        return max(0.0, self._until - time.monotonic()) if self._turn else 0.0

    def _next(self) -> object:
        """Whose turn is next; None where there is no place for anybody."""
        if self._under_way.total() >= self.places:
            return None
        now, most = time.monotonic(), max(1, self.places - 1)
        return min(
            (turn for turn, address in self._waiting.items() if self._under_way[address] < most),
            key=lambda turn: self.spending.of(self._waiting[turn], now),
            default=None,
        )
