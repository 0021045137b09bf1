"""Work of seconds, beside the reruns: one job at a time, for as long as somebody asks for it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from functools import partial

from cachetools import LRUCache

PATIENCE = 5.0  # seconds: a job that nobody has asked for in this time is dropped
KEPT = 64  # ends of jobs that nobody has asked for since

Progress = Callable[[int, int], None]
Work = Callable[[Progress], object]
Step = tuple[str, Callable[[Progress], object]]  # what it is called, and its work
STEP = 1000  # parts of a step that are told apart


class _DroppedError(Exception):
    """Nobody asks for the job any more."""


@dataclass(eq=False)
class _Job:
    """asked: until when somebody waits for it, or when it was last asked for."""

    work: Work
    asked: float
    steps: tuple[int, int] = (0, 1)


@dataclass(frozen=True, eq=False)
class State:
    """How far a job is.

    done: whether it is over; steps: how many of how many are done; ahead: how many other jobs come
    first.
    """

    done: bool = False
    steps: tuple[int, int] = (0, 1)
    ahead: int = 0


def in_turn(steps: Sequence[Step]) -> Work:
    """One work of several, one after the other."""

    def work(tell: Progress) -> None:
        of = STEP * len(steps)
        for number, (_, step) in enumerate(steps):
            tell(STEP * number, of)
            step(partial(_tell_part, tell, STEP * number, of))

    return work


def _tell_part(tell: Progress, before: int, of: int, done: int, whole: int) -> None:
    tell(before + STEP * done // max(1, whole), of)


@dataclass(eq=False)
class Jobs:
    """Does one job after the other, in a thread that ends with the last one."""

    patience: float = PATIENCE
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _jobs: dict[Hashable, _Job] = field(default_factory=dict)
    _over: LRUCache[Hashable, Exception | None] = field(default_factory=lambda: LRUCache(KEPT))

    def ask(self, key: Hashable, work: Work, wait: float = 0.0) -> State:
        """How far the job of that name is; it begins, or stands in the queue, if it did not yet.

        work: is given what to tell its progress, how many of how many steps, and keeps what it
        finds; wait: seconds that the caller has for it. Jobs of one name are the same job, until
        somebody has heard that it is over. Raises what the work has raised, once.
        """
        until = time.monotonic() + wait
        with self._changed:
            while key not in self._over:
                job = self._jobs.get(key)
                if job is None:
                    job = self._jobs[key] = _Job(work, time.monotonic())
                    if len(self._jobs) == 1:
                        threading.Thread(target=self._run, daemon=True).start()
                job.asked = max(job.asked, until)
                left = until - time.monotonic()
                if left <= 0:
                    return State(steps=job.steps, ahead=[*self._jobs].index(key))
                self._changed.wait(left)
            error = self._over.pop(key)
        if error is not None:
            raise error
        return State(done=True)

    def _run(self) -> None:
        with self._changed:
            while self._jobs:
                key, job = next(iter(self._jobs.items()))
                self._changed.release()
                try:
                    error = self._do(job)
                finally:
                    self._changed.acquire()
                if not isinstance(error, _DroppedError):
                    self._over[key] = error
                del self._jobs[key]
                self._changed.notify_all()

    def _do(self, job: _Job) -> Exception | None:
        """Do the work; gives what it raises."""

        def tell(done: int, of: int) -> None:
            job.steps = done, of
            if time.monotonic() - job.asked > self.patience:
                raise _DroppedError

        try:
            tell(*job.steps)
            job.work(tell)
        except Exception as error:  # of any kind: `ask` raises it for who asked for the work
            return error
        return None
