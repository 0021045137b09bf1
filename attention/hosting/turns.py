"""One after the other, but nobody waits long for one who takes long."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass
class Turns:
    """Gives the turn to one at a time; after `most` seconds also to the next, beside that one."""

    most: float
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _turn: object = None
    _until: float = 0.0

    @contextlib.contextmanager
    def one(self) -> Iterator[None]:
        """Waits for the turn and has it for as long as the block runs, or for the longest time."""
        turn = object()
        with self._changed:
            while self._turn and (left := self._until - time.monotonic()) > 0:
                self._changed.wait(left)
            self._turn, self._until = turn, time.monotonic() + self.most
        try:
            yield
        finally:
            with self._changed:
                if self._turn is turn:
                    self._turn = None
                    self._changed.notify()
