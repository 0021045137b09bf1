"""Work of seconds beside the reruns, in fair turns, for as long as somebody asks for it.

A job is a sequence of steps. One step is worked on at a time, and whenever it tells how far it is
another one may come first: the address that had least of the processor lately has the next turn. A
step that has to wait stays as it is, in a thread of its own. Steps of the same key are the same
step, whoever asks for it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from attention.hosting.fair_share import FairShare

PATIENCE = 15.0  # seconds: a job that nobody has asked for in this time has no turn
KEPT = 60.0  # seconds: what nobody has asked for in this time is given up
MOST = 16  # steps that are begun and not yet over
LEAST = 0.05  # seconds of a core: a turn
GIVE_WAY = 0.45  # seconds after a turn in which reruns that wait go first
LOOK = 0.05  # seconds from one look at them to the next
PARTS = 1000  # of a step, that are told apart


class Tell(Protocol):
    """To be called by work between its parts: here others have their turn."""

    def __call__(self, done: int, of: int, found: object = None, /) -> None:
        """Tell how many of how many parts are done, and what has been found so far."""


class Step(NamedTuple):
    """A part of a job: its title, its key, the same for all who need it, and its work.

    The work keeps what it finds; an exception that `Tell` raises must end it.
    """

    title: str
    key: Hashable
    work: Callable[[Tell], object]


class Owner(NamedTuple):
    """Somebody who asks: their address, the visit, and where on its page."""

    address: str
    visit: str
    place: str


@dataclass(frozen=True)
class Job:
    """Steps, one after the other.

    what: its name; steps: at least one; quick: whether they take a second or less.
    """

    what: Hashable
    steps: Sequence[Step]
    quick: bool = False


@dataclass(frozen=True, eq=False)
class State:
    """State of a job.

    done: whether it is over; title: of the step that it is at; parts: how many of how many are
    done; ahead: number of other steps of the same address that come first; others: number of
    other steps that have turns by now; found: what the step has told that it has found so far.
    """

    done: bool = False
    title: str = ""
    parts: tuple[int, int] = (0, 1)
    ahead: int = 0
    found: object = None
    others: int = 0


class _DroppedError(Exception):
    """Nobody has asked for the step for too long."""


@dataclass(eq=False)
class _Running:
    """A step in its thread. wanted_until: as in `_Request`; since: when its turn began."""

    wanted_until: float
    parts: tuple[int, int] = (0, 1)
    found: object = None
    dropped: bool = False
    since: float = 0.0


@dataclass(eq=False)
class _Request:
    """A job as somebody asks for it. wanted_until: they wait, or when they last asked."""

    job: Job
    wanted_until: float
    over: int = 0  # steps
    error: Exception | None = None

    @property
    def is_over(self) -> bool:
        return self.error is not None or self.over == len(self.job.steps)

    @property
    def step(self) -> Step:
        return self.job.steps[self.over]


Queue = tuple[str, Hashable]  # jobs of an address that are done one by one


@dataclass(eq=False)
class Jobs:
    """Jobs by who asks for them, and the one step that has its turn.

    patience, kept, most, least: see the constants; one_by_one: whether those of an address that are
    quick are done one by one, and so the others, else they take turns as well; clock: in seconds;
    cpu: seconds of a core that the calling thread has had; crowded: whether others wait who go
    before the work of an address.
    """

    patience: float = PATIENCE
    kept: float = KEPT
    most: float = MOST
    least: float = LEAST
    one_by_one: bool = True
    clock: Callable[[], float] = time.monotonic
    cpu: Callable[[], float] = time.thread_time
    crowded: Callable[[str], bool] = lambda address: False
    _fair_share: FairShare = field(default_factory=FairShare)
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _requests: dict[Owner, _Request] = field(default_factory=dict)
    _running: dict[Hashable, _Running] = field(default_factory=dict)
    _turn: tuple[_Running, Queue] | None = None
    _rest: dict[Queue, float] = field(default_factory=dict)  # until when, if others wait

    def ask(self, owner: Owner, job: Job, wait: float = 0.0) -> State:
        """Ask for a job; it stands in line from now on, in place of another one of its owner.

        wait: seconds that the caller has for it. Raises what one of its steps has raised, once.
        """
        until = self.clock() + wait
        with self._changed:
            request = self._requests.get(owner)
            if request is None or request.job.what != job.what:
                self._requests.pop(owner, None)
                request = self._requests[owner] = _Request(job, until)
            request.wanted_until = max(request.wanted_until, until)
            if not request.is_over and (running := self._running.get(request.step.key)):
                running.wanted_until = max(running.wanted_until, until)
            self._go_on()
            while not request.is_over and (left := until - self.clock()) > 0:
                self._changed.wait(left)
            if not request.is_over:
                return self._state(owner, request)
            if self._requests.get(owner) is request:
                del self._requests[owner]
        if request.error is not None:
            raise request.error
        return State(done=True)

    def leave(self, owner: Owner) -> None:
        """Ask no more. What others need goes on; what nobody needs stays as it is for a while."""
        with self._changed:
            self._requests.pop(owner, None)

    def end(self) -> None:
        """Give everything up, and wait until the step that has its turn has heard of it.

        To be called before the process ends: it must not end within an operation of torch.
        """
        with self._changed:
            self._requests.clear()
            for key in [*self._running]:
                self._drop(key)
            self._changed.wait_for(lambda: self._turn is None, self.patience)

    def _state(self, owner: Owner, request: _Request) -> State:
        running = self._running.get(request.step.key)
        done, of = running.parts if running else (0, 1)
        parts = PARTS * request.over + PARTS * done // max(1, of), PARTS * len(request.job.steps)
        lines: dict[Queue, dict[Hashable, None]] = {}  # steps, in the order in which they came
        for who, each in self._waiting_requests():
            lines.setdefault(self._queue_of(who, each), {}).setdefault(each.step.key)
        key = request.step.key
        ahead = min(([*line].index(key) for line in lines.values() if key in line), default=0)
        others = len({next(iter(line)) for line in lines.values()} - {key})
        found = running.found if running else None
        return State(False, request.step.title, parts, ahead, found, others)

    def _waiting_requests(self) -> Iterator[tuple[Owner, _Request]]:
        """All who wait, in the order in which they came."""
        oldest = self.clock() - self.patience
        for owner, request in self._requests.items():
            if not request.is_over and request.wanted_until >= oldest:
                yield owner, request

    def _queue_of(self, owner: Owner, request: _Request) -> Queue:
        return owner.address, request.job.quick if self.one_by_one else owner

    def _go_on(self) -> None:
        """Give the turn to the step whose it is, if nobody has it."""
        if self._turn is not None:
            return
        now = self.clock()
        self._give_up(now)
        first: dict[Queue, _Request] = {}
        for owner, request in self._waiting_requests():
            if request.step.key in self._running or self._has_room():
                first.setdefault(self._queue_of(owner, request), request)
        self._rest = {queue: until for queue, until in self._rest.items() if queue in first}
        first = {queue: request for queue, request in first.items() if not self._rests(queue)}
        if not first:
            return

        def spent(queue: Queue) -> tuple[float, float]:
            return self._fair_share.used_by(queue[0], now), self._fair_share.used_by(queue, now)

        queue = min(first, key=spent)
        step = first[queue].step
        running = self._running.get(step.key)
        if running is None:
            self._make_room()
            running = self._running[step.key] = _Running(first[queue].wanted_until)
            threading.Thread(target=self._run, args=(step, running), daemon=True).start()
        self._turn = running, queue
        self._changed.notify_all()

    def _has_room(self) -> bool:
        """True if one step more may begin, if need be in place of one that nobody asks for."""
        return len(self._running) < self.most or self._left() is not None

    def _left(self) -> Hashable | None:
        """The step that nobody has asked for, for the longest time."""
        needed = {request.step.key for _, request in self._waiting_requests()}
        left = [key for key in self._running if key not in needed]
        return min(left, key=lambda key: self._running[key].wanted_until, default=None)

    def _make_room(self) -> None:
        if len(self._running) >= self.most:
            self._drop(self._left())

    def _give_up(self, now: float) -> None:
        """Give up what nobody has asked for in a long time."""
        oldest = now - self.kept
        for owner in [
            owner for owner, each in self._requests.items() if each.wanted_until < oldest
        ]:
            del self._requests[owner]
        for key in [key for key, running in self._running.items() if running.wanted_until < oldest]:
            self._drop(key)

    def _drop(self, key: Hashable) -> None:
        self._running.pop(key).dropped = True
        self._changed.notify_all()

    def _pay(self, running: _Running) -> None:
        """End a turn: what it took is its address's."""
        assert self._turn is not None
        _, queue = self._turn
        took, now = self.cpu() - running.since, self.clock()
        for who in (queue[0], queue):
            self._fair_share.charge(who, took, now)
        self._turn = None

    def _rests(self, queue: Queue) -> bool:
        """True if a queue gives way: it has just had a turn, and reruns wait that go first."""
        return time.monotonic() < self._rest.get(queue, 0.0) and self.crowded(queue[0])

    def _wait_for_turn(self, running: _Running) -> None:
        while self._turn is None or self._turn[0] is not running:
            if running.dropped:
                raise _DroppedError
            resting = self._turn is None and self._rest
            if not self._changed.wait(LOOK if resting else self.kept):
                self._give_up(self.clock())
                self._go_on()
        running.since = self.cpu()

    def _run(self, step: Step, running: _Running) -> None:
        """Do a step, in a thread of its own, one turn after the other."""

        def tell(done: int, of: int, found: object = None, /) -> None:
            with self._changed:
                running.parts = done, of
                running.found = running.found if found is None else found
                if self.cpu() - running.since < self.least:
                    return
                assert self._turn is not None
                self._rest[self._turn[1]] = time.monotonic() + GIVE_WAY
                self._pay(running)
                self._go_on()
                self._changed.notify_all()
                self._wait_for_turn(running)

        error: Exception | None = None
        try:
            with self._changed:
                self._wait_for_turn(running)
            step.work(tell)
        except _DroppedError:
            return
        except Exception as raised:  # of any kind: `ask` raises it for who asked for the step
            error = raised
        with self._changed:
            self._pay(running)
            if not running.dropped:
                del self._running[step.key]
            for request in self._requests.values():
                if not request.is_over and request.step.key == step.key:
                    request.over, request.error = request.over + 1, error
            self._go_on()
            self._changed.notify_all()
