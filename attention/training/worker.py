"""A process of its own that trains: whoever waits for it leaves Python's lock to others.

`Worker` starts it, `python -m attention.training.worker` is it. Of each training it makes as much
as it is asked for, from one progress to the next, so that several take turns. Requests are lines of
JSON, answers are safetensors, each after its length: nothing is unpickled.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from threading import Lock
from typing import IO

import torch

from attention.training.fitting import fit
from attention.training.networks import count
from attention.training.run import Progress, from_bytes, to_bytes
from attention.training.settings import TrainingSettings

NICE = 10  # below whoever answers visitors
LENGTH = 8  # bytes
END = 5.0  # seconds that it has to end by itself
MOST_BYTES = 256 << 20  # of all trainings in it: hundreds of usual ones, or 9 of the largest
COPIES = 3 * 4  # bytes: a parameter, and what Adam keeps of it
READY = b"\n"  # once it is there and warm, before any answer
WARM_UP = TrainingSettings("repetition", learn_layers="1", learn_width="8", learn_steps="100")
ENDED = b"ended"  # the answer for one that had to make room


class WorkerEndedError(RuntimeError):
    """The process has ended in the middle of a training."""


class NoRoomError(RuntimeError):
    """A training was ended, as there was no room for it beside smaller ones."""


class Worker:
    """The process, started when it is needed, and ended with the last training in it.

    seconds: that it has worked; to start it is no work of whoever came first.
    """

    def __init__(self) -> None:
        self.seconds = 0.0
        self._lock = Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._under_way: set[TrainingSettings] = set()
        self._lost: set[TrainingSettings] = set()

    @property
    def pid(self) -> int | None:
        """Number of the process, None while there is none."""
        return None if self._process is None else self._process.pid

    def next(self, settings: TrainingSettings) -> Progress | None:
        """The next progress of a training, which begins with the first; None: it is over.

        Raises WorkerEndedError where the process has ended: all trainings in it are lost, and
        NoRoomError where this one has made room for others.
        """
        with self._lock:
            if settings in self._lost:
                self._lost.discard(settings)
                raise WorkerEndedError("the process that trained has ended")
            self._under_way.add(settings)
            data = self._ask("next", settings)
            if data not in (b"", ENDED):
                return from_bytes(data)
            self._forget(settings)
            if data:
                raise NoRoomError("the training had to make room for others")
            return None

    def drop(self, settings: TrainingSettings) -> None:
        """Give a training up."""
        with self._lock:
            if settings in self._under_way and self._process is not None:
                with contextlib.suppress(WorkerEndedError):
                    self._ask("drop", settings)
            self._forget(settings)

    def end(self) -> None:
        """End the process, and wait for that."""
        with self._lock:
            self._end()

    def _ask(self, what: str, settings: TrainingSettings) -> bytes:
        process = self._process = self._process or _started()
        assert process.stdin is not None
        assert process.stdout is not None
        begun = time.monotonic()
        try:
            process.stdin.write(json.dumps([what, asdict(settings)]).encode() + b"\n")
            process.stdin.flush()
            length = int.from_bytes(_exactly(process.stdout, LENGTH), "little")
            return _exactly(process.stdout, length)
        except (OSError, EOFError) as error:
            self._end()
            self._lost = self._under_way - {settings}
            self._under_way.clear()
            raise WorkerEndedError("the process that trained has ended") from error
        finally:
            self.seconds += time.monotonic() - begun

    def _forget(self, settings: TrainingSettings) -> None:
        self._under_way.discard(settings)
        self._lost.discard(settings)
        if not self._under_way:
            self._end()

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        try:
            process.wait(END)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _started() -> subprocess.Popen[bytes]:
    """A fresh process: a fork of one in which torch has run may hang."""
    home = str(Path(__file__).parents[2])
    path = os.pathsep.join(filter(None, [home, os.environ.get("PYTHONPATH", "")]))
    threads = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    process = subprocess.Popen(
        [sys.executable, "-m", __name__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, **threads, "PYTHONPATH": path},
    )
    assert process.stdout is not None
    process.stdout.read(len(READY))
    return process


def _exactly(stream: IO[bytes], length: int) -> bytes:
    """So many bytes of a stream. Raises EOFError where it ends before."""
    data = stream.read(length)
    if len(data) < length:
        raise EOFError
    return data


def serve(requests: IO[bytes], answers: IO[bytes]) -> None:
    """Train as asked, until there are no more requests.

    Where all trainings together take too much memory, the largest makes room, of some the latest.
    """
    under_way: dict[TrainingSettings, Iterator[Progress] | None] = {}  # None: it has made room
    taken: dict[TrainingSettings, int] = {}  # bytes
    for line in requests:
        what, values = json.loads(line)
        settings = TrainingSettings(**values)
        data = b""
        if what == "next":
            training = under_way.setdefault(settings, fit(settings.task, settings))
            if training is None:
                data = ENDED
            elif made := next(training, None):
                taken[settings] = COPIES * sum(map(count, made.networks.values()))
                data = to_bytes(made)
        if data in (b"", ENDED):
            under_way.pop(settings, None)
            taken.pop(settings, None)
        while len(taken) > 1 and sum(taken.values()) > MOST_BYTES:
            largest = max(reversed(taken), key=lambda each: taken[each])
            under_way[largest] = None
            del taken[largest]
        answers.write(len(data).to_bytes(LENGTH, "little") + data)
        answers.flush()


def main() -> None:
    """Train as whoever has started this process asks, below all others, on one thread."""
    if hasattr(os, "nice"):
        os.nice(NICE)
    torch.set_num_threads(1)
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    with contextlib.suppress(BrokenPipeError, KeyboardInterrupt):
        warm_up = fit(WARM_UP.task, WARM_UP)  # torch loads some modules late
        next(warm_up)
        next(warm_up)
        answers.write(READY)
        answers.flush()
        serve(sys.stdin.buffer, answers)


if __name__ == "__main__":
    main()
