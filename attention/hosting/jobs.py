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

from attention.hosting.fair_share import Spending

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
    done; ahead: how many jobs of the same address come first; others: how many other steps have
    turns or wait for one; found: what the step has told that it has found so far.
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
class _Begun:
    """A step in its thread. asked: when it was last asked for; since: when its turn began."""

    asked: float
    parts: tuple[int, int] = (0, 1)
    found: object = None
    dropped: bool = False
    since: float = 0.0


@dataclass(eq=False)
class _Asked:
    """A job as somebody asks for it. asked: until when they wait, or when they last asked."""

    job: Job
    asked: float
    over: int = 0  # steps
    error: Exception | None = None

    @property
    def is_over(self) -> bool:
        return self.error is not None or self.over == len(self.job.steps)

    @property
    def step(self) -> Step:
        return self.job.steps[self.over]


Line = tuple[str, bool]  # jobs of an address that are quick, or those that are not: one by one


@dataclass(eq=False)
class Jobs:
    """Jobs by who asks for them, and the one step that has its turn.

    patience, kept, most, least: see the constants; clock: in seconds; cpu: seconds of a core that
    the calling thread has had; crowded: whether others wait who go before the work of an
    address.
    """

    patience: float = PATIENCE
    kept: float = KEPT
    most: int = MOST
    least: float = LEAST
    clock: Callable[[], float] = time.monotonic
    cpu: Callable[[], float] = time.thread_time
    crowded: Callable[[str], bool] = lambda address: False
    _spending: Spending = field(default_factory=Spending)
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _asked: dict[Owner, _Asked] = field(default_factory=dict)
    _begun: dict[Hashable, _Begun] = field(default_factory=dict)
    _turn: tuple[_Begun, Line] | None = None
    _rest: dict[Line, float] = field(default_factory=dict)  # until when, if others wait

    def ask(self, owner: Owner, job: Job, wait: float = 0.0) -> State:
        """Ask for a job; it stands in line from now on, in place of another one of its owner.

        wait: seconds that the caller has for it. Raises what one of its steps has raised, once.
        """
        until = self.clock() + wait
        with self._changed:
            asked = self._asked.get(owner)
            if asked is None or asked.job.what != job.what:
                self._asked.pop(owner, None)
                asked = self._asked[owner] = _Asked(job, until)
            asked.asked = max(asked.asked, until)
            if not asked.is_over and (begun := self._begun.get(asked.step.key)):
                begun.asked = max(begun.asked, until)
            self._go_on()
            while not asked.is_over and (left := until - self.clock()) > 0:
                self._changed.wait(left)
            if not asked.is_over:
                return self._state(owner, asked)
            if self._asked.get(owner) is asked:
                del self._asked[owner]
        if asked.error is not None:
            raise asked.error
        return State(done=True)

    def leave(self, owner: Owner) -> None:
        """Ask no more. What others need goes on; what nobody needs stays as it is for a while."""
        with self._changed:
            self._asked.pop(owner, None)

    def end(self) -> None:
        """Give everything up, and wait until the step that has its turn has heard of it.

        To be called before the process ends: it must not end within an operation of torch.
        """
        with self._changed:
            self._asked.clear()
            for key in [*self._begun]:
                self._drop(key)
            self._changed.wait_for(lambda: self._turn is None, self.patience)

    def _state(self, owner: Owner, asked: _Asked) -> State:
        begun = self._begun.get(asked.step.key)
        done, of = begun.parts if begun else (0, 1)
        parts = PARTS * asked.over + PARTS * done // max(1, of), PARTS * len(asked.job.steps)
        at_turn = begun is not None and self._turn is not None and self._turn[0] is begun
        line = [who for who, each in self._in_line() if _line(who, each) == _line(owner, asked)]
        ahead = 0 if at_turn or owner not in line else line.index(owner)
        others = len({each.step.key for _, each in self._in_line()} - {asked.step.key})
        found = begun.found if begun else None
        return State(False, asked.step.title, parts, ahead, found, others)

    def _in_line(self) -> Iterator[tuple[Owner, _Asked]]:
        """All who wait, in the order in which they came."""
        oldest = self.clock() - self.patience
        for owner, asked in self._asked.items():
            if not asked.is_over and asked.asked >= oldest:
                yield owner, asked

    def _go_on(self) -> None:
        """Give the turn to the step whose it is, if nobody has it."""
        if self._turn is not None:
            return
        now = self.clock()
        self._give_up(now)
        first: dict[Line, _Asked] = {}
        for owner, asked in self._in_line():
            if asked.step.key in self._begun or self._has_room():
                first.setdefault(_line(owner, asked), asked)
        self._rest = {line: until for line, until in self._rest.items() if line in first}
        first = {line: asked for line, asked in first.items() if not self._rests(line)}
        if not first:
            return

        def spent(line: Line) -> tuple[float, float]:
            return self._spending.of(line[0], now), self._spending.of(line, now)

        line = min(first, key=spent)
        step = first[line].step
        begun = self._begun.get(step.key)
        if begun is None:
            self._make_room()
            begun = self._begun[step.key] = _Begun(first[line].asked)
            threading.Thread(target=self._run, args=(step, begun), daemon=True).start()
        self._turn = begun, line
        self._changed.notify_all()

    def _has_room(self) -> bool:
        """True if one step more may begin, if need be in place of one that nobody asks for."""
        return len(self._begun) < self.most or self._left() is not None

    def _left(self) -> Hashable | None:
        """The step that nobody has asked for, for the longest time."""
        needed = {asked.step.key for _, asked in self._in_line()}
        left = [key for key in self._begun if key not in needed]
        return min(left, key=lambda key: self._begun[key].asked, default=None)

    def _make_room(self) -> None:
        if len(self._begun) >= self.most:
            self._drop(self._left())

    def _give_up(self, now: float) -> None:
        """Give up what nobody has asked for in a long time."""
        oldest = now - self.kept
        for owner in [owner for owner, each in self._asked.items() if each.asked < oldest]:
            del self._asked[owner]
        for key in [key for key, begun in self._begun.items() if begun.asked < oldest]:
            self._drop(key)

    def _drop(self, key: Hashable) -> None:
        self._begun.pop(key).dropped = True
        self._changed.notify_all()

    def _pay(self, begun: _Begun) -> None:
        """End a turn: what it took is its address's."""
        assert self._turn is not None
        _, line = self._turn
        took, now = self.cpu() - begun.since, self.clock()
        for who in (line[0], line):
            self._spending.take(who, took, now)
        self._turn = None

    def _rests(self, line: Line) -> bool:
        """True if a line gives way: it has just had a turn, and reruns wait that go first."""
        return time.monotonic() < self._rest.get(line, 0.0) and self.crowded(line[0])

    def _wait_for_turn(self, begun: _Begun) -> None:
        while self._turn is None or self._turn[0] is not begun:
            if begun.dropped:
                raise _DroppedError
            resting = self._turn is None and self._rest
            if not self._changed.wait(LOOK if resting else self.kept):
                self._give_up(self.clock())
                self._go_on()
        begun.since = self.cpu()

    def _run(self, step: Step, begun: _Begun) -> None:
        """Do a step, in a thread of its own, one turn after the other."""

        def tell(done: int, of: int, found: object = None, /) -> None:
            with self._changed:
                begun.parts = done, of
                begun.found = begun.found if found is None else found
                if self.cpu() - begun.since < self.least:
                    return
                assert self._turn is not None
                self._rest[self._turn[1]] = time.monotonic() + GIVE_WAY
                self._pay(begun)
                self._go_on()
                self._changed.notify_all()
                self._wait_for_turn(begun)

        error: Exception | None = None
        try:
            with self._changed:
                self._wait_for_turn(begun)
            step.work(tell)
        except _DroppedError:
            return
        except Exception as raised:  # of any kind: `ask` raises it for who asked for the step
            error = raised
        with self._changed:
            self._pay(begun)
            if not begun.dropped:
                del self._begun[step.key]
            for asked in self._asked.values():
                if not asked.is_over and asked.step.key == step.key:
                    asked.over, asked.error = asked.over + 1, error
            self._go_on()
            self._changed.notify_all()


def _line(owner: Owner, asked: _Asked) -> Line:
    return owner.address, asked.job.quick
