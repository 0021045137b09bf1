"""Trainings that are over at once, in the place of those of a worker's process."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from attention.subjects.learning import controls
from attention.training import TASKS, Progress, TrainingSettings, fit


class Instant:
    """A worker that tells the state before the first step, and the same as that of the middle and
    of the last step once it may go on."""

    pid, seconds = None, 0.0

    def __init__(self) -> None:
        self.told: dict[TrainingSettings, list[Progress]] = {}
        self.goes_on = threading.Event()
        self.goes_on.set()

    def next(self, settings: TrainingSettings) -> Progress | None:
        told = self.told.setdefault(settings, [])
        if not told:
            told.append(next(fit(settings.task, settings)))
        elif len(told) < 3:
            self.goes_on.wait(60)
            steps = TASKS[settings.task](settings).sizes.steps
            told.append(replace(told[0], step=steps * len(told) // 2))
        else:
            del self.told[settings]
            return None
        return told[-1]

    def drop(self, settings: TrainingSettings) -> None:
        self.told.pop(settings, None)

    def end(self) -> None:
        self.goes_on.set()


def learn_at_once(monkeypatch: pytest.MonkeyPatch) -> Instant:
    """Have pages learn at once in this test, and know no training of an earlier one."""
    worker = Instant()
    monkeypatch.setattr(controls, "worker", worker)
    for kept in ("_runs", "_so_far", "_ended"):
        monkeypatch.setattr(controls, kept, {})
    return worker
