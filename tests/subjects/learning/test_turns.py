"""Trainings of several visitors: each has its turns, and is told of those of others."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
import torch

from attention.app.controls import works
from attention.hosting.jobs import Job, Owner, State
from attention.subjects.learning import controls
from attention.training import Progress, TrainingSettings
from tests.running import opened
from tests.subjects.learning.instant import learn_at_once

LONG = 60.0  # seconds
TOLD = 5  # times of each training


class Told:
    """A worker whose trainings are told some times each, and that begins once all have asked."""

    pid = None

    def __init__(self) -> None:
        self.seconds, self.told = 0.0, list[int]()
        self.all_have_asked = threading.Event()

    def next(self, settings: TrainingSettings) -> Progress | None:
        self.all_have_asked.wait(LONG)
        self.seconds += 0.25
        step = self.told.count(settings.learn_seed)
        self.told.append(settings.learn_seed)
        return Progress(step, {}, {}, {}, torch.zeros(1)) if step < TOLD else None

    def drop(self, settings: TrainingSettings) -> None:
        raise AssertionError("no training is given up")

    def end(self) -> None:
        self.all_have_asked.set()


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> Iterator[Told]:
    """The worker of all trainings here, on a clock of its own."""
    learn_at_once(monkeypatch)
    worker = Told()
    for name in ("worker", "tuner"):
        monkeypatch.setattr(controls, name, worker)
    for line in (controls.jobs, controls.tunings):
        monkeypatch.setattr(line, "clock", lambda: worker.seconds)
    yield worker
    worker.end()


@pytest.mark.parametrize("address", ["10.0.0.{}", "2001:db8:0:{}::/64", "10.0.0.1"])
@pytest.mark.parametrize(("task", "visitors"), [("repetition", 20), ("tuning", 7)])
def test_whoever_comes_makes_a_step_before_others_make_the_next_and_none_begins_anew(
    worker, task, visitors, address
):
    asked = []
    for seed in range(1, visitors + 1):
        learned = controls.task_of(TrainingSettings(task, learn_seed=seed))
        owner = Owner(address.format(seed), f"visit {seed}", "learn")
        job = Job(learned.what, learned.steps)
        assert learned.jobs.ask(owner, job).others == seed - 1
        asked.append((learned, owner, job))
    worker.all_have_asked.set()
    for learned, owner, job in asked:
        assert learned.jobs.ask(owner, job, LONG).done
    everybody = [*range(1, visitors + 1)]
    assert worker.told[:visitors] == everybody
    assert sorted(worker.told) == sorted(everybody * (TOLD + 1))
    for seed in everybody:
        run = controls.finished(TrainingSettings(task, learn_seed=seed))
        assert [each.step for each in run.progress] == [*range(TOLD)]


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (State(), "Learning …"),
        (State(others=1), "Learning … 1 other takes turns with it."),
        (State(others=6), "Learning … 6 others take turns with it."),
    ],
)
def test_the_words_beside_the_bar_say_how_many_have_turns(monkeypatch, state, words):
    learn_at_once(monkeypatch)
    monkeypatch.setattr(works, "ask", lambda *_, **more: state)
    app = opened("learning", task="repetition", learn_seed="7").press("learn")
    assert [bar.proto.text for bar in app.get("progress")] == [words]


def test_a_second_tuning_begins_beside_the_first_where_memory_for_one_was_free(monkeypatch):
    tuning = TrainingSettings("tuning", learn_seed=7)
    monkeypatch.setattr(controls, "free_memory", lambda: 0)
    assert controls.lacking(tuning)
    monkeypatch.setattr(controls.tuner, "_process", type("Process", (), {"pid": 7}))
    assert not controls.lacking(tuning)
