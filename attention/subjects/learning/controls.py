"""Trainings of this server: one worker for all, in fair turns, each worked out once for everybody.

A training is a job, see `jobs`: it goes on for as long as somebody asks, and is ended a while after
nobody does. A turn is from one progress to the next, and whoever comes has one soon: each training
stays as it is until its next. Tunings of a known model, whose turns are long, have a worker of
their own: no small task waits for them.
"""

from __future__ import annotations

import atexit
import functools
import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from threading import Lock
from typing import Any

import torch
from cachetools import LRUCache

from attention.app.controls.works import Task
from attention.app.state.view import View
from attention.core.settings import settings_of as declared
from attention.hosting.jobs import Jobs, Step, Tell
from attention.hosting.memory import free_memory
from attention.trained import sources
from attention.training import TASKS, Progress, Run, TrainingSettings
from attention.training.finished import packaged
from attention.training.networks import count
from attention.training.settings import NONE, SIZES, USUAL
from attention.training.tasks import ATTENTION
from attention.training.worker import NoRoomError, Worker, WorkerEndedError

GRACE = 60.0  # seconds that a training goes on, or waits, with nobody there
TURN = 0.2  # seconds
RUN_BYTES = 32 << 20  # the largest takes 4 MB

ENDED = "The process that trained has ended, and this training with it. Learn begins it anew."
NO_ROOM = "There was no room for this training beside the others. Learn begins it anew."
LEFT = "Nobody was there for a minute, so this training was ended. Learn begins it anew."

worker, tuner = Worker(), Worker()
# A turn is paid in seconds of the worker: whoever waits for it has none of their own.
in_turns = partial(Jobs, GRACE, GRACE, math.inf, TURN, one_by_one=False)
jobs, tunings = in_turns(cpu=lambda: worker.seconds), in_turns(cpu=lambda: tuner.seconds)
_lock = Lock()
_runs: LRUCache[TrainingSettings, Run] = LRUCache(RUN_BYTES, getsizeof=lambda run: run.nbytes)
_so_far: LRUCache[TrainingSettings, Run] = LRUCache(RUN_BYTES, getsizeof=lambda run: run.nbytes)
_ended: LRUCache[TrainingSettings, str] = LRUCache(256)


def end() -> None:
    """Give all trainings up, and end the worker: to be called before this process ends."""
    for line, process in ((jobs, worker), (tunings, tuner)):
        line.end()
        process.end()


atexit.register(end)


def settings_of(view: View) -> TrainingSettings:
    """The training that a view is about, see `held`."""
    return held(view.of(TrainingSettings))


def held(settings: TrainingSettings) -> TrainingSettings:
    """Settings of a training without the handicaps and sizes that its task has not, and as short
    as one that is begun here has to be."""
    task = TASKS[settings.task]
    kept: dict[str, Any] = {f"learn_{name}": USUAL for name in SIZES if name not in task.offered}
    handicap = settings.handicap if settings.handicap in task.handicaps else NONE
    whole = replace(settings, handicap=handicap, **kept)
    if whole.learn_steps == USUAL and packaged(whole) is None:
        return replace(whole, learn_steps=task.begun_steps)
    return whole


@functools.lru_cache(maxsize=64)
def untrained(settings: TrainingSettings) -> Run:
    """A training before its first step: the weights alone, for nothing is measured yet."""
    task = TASKS[settings.task](settings)
    learners = task.learners(torch.Generator().manual_seed(100 + settings.learn_seed))
    maps = task.maps(learners, task.example())
    return Run(settings, (Progress(0, {}, {}, {}, maps),))


def beside(settings: TrainingSettings) -> Run | None:
    """The training to compare with, where it is over: with nothing taken away, and as wide."""
    usual, width = TASKS[settings.task], TASKS[settings.task](settings).sizes.width
    whole = replace(settings, handicap=NONE)
    if "width" in usual.offered and usual(whole).sizes.width != width:
        whole = replace(whole, learn_width=str(width))
    alike = TrainingSettings(settings.task, learn_width=whole.learn_width)
    for other in (whole, alike, TrainingSettings(settings.task)):
        if other != settings and (run := finished(other)) is not None:
            return run
    return None


def with_next_seed(settings: TrainingSettings) -> TrainingSettings:
    """Settings of a training that differ in the seed alone: it is the next one not learned yet."""
    most = int(declared(TrainingSettings)["learn_seed"].maximum or 0)
    after = (settings.learn_seed + more for more in range(1, most + 1))
    others = (held(replace(settings, learn_seed=seed % (most + 1))) for seed in after)
    return next(other for other in others if finished(other) is None)


def finished(settings: TrainingSettings) -> Run | None:
    """A training that is over, packaged or learned on this server."""
    with _lock:
        return packaged(settings) or _runs.get(settings)


def so_far(settings: TrainingSettings) -> Run | None:
    """A training as far as it is, or was when it was left."""
    with _lock:
        return _so_far.get(settings)


def why_ended(settings: TrainingSettings) -> str:
    """Why a training was ended before it was over, "" where it was not."""
    with _lock:
        return _ended.get(settings, "")


def lacking(settings: TrainingSettings) -> str:
    """Reason for which a training cannot run on this server now, "" where it can."""
    task = TASKS[settings.task]
    if task.model and task.model not in sources.names():
        return f"It begins from the model {task.model}, which this server does not have."
    free = free_memory() if tuner.pid is None else None  # else it has the model already
    if free is not None and free < task.memory:
        return (
            f"It needs {task.memory / 1e9:.1f} GB of memory, and this server has "
            f"{max(0, free) / 1e9:.1f} GB free."
        )
    return ""


def forget(settings: TrainingSettings) -> None:
    """Begin a training anew when it is next asked for, where nobody else needs it as it is."""
    with _lock:
        _so_far.pop(settings, None)
        _ended.pop(settings, None)


def task_of(settings: TrainingSettings) -> Task:
    """Task of learning: its steps are empty once it is over."""
    sizes = TASKS[settings.task](settings).sizes
    steps = []
    if finished(settings) is None:
        steps = [Step("Learning", ("learn", settings), partial(_learn, settings, sizes.steps))]
    line = tunings if TASKS[settings.task].model else jobs
    return Task(("learn", settings), steps, False, False, "learn", jobs=line)


def _learn(settings: TrainingSettings, steps: int, tell: Tell) -> None:
    """Train to the end, or to where the worker ends; keep what it tells."""
    progress: list[Progress] = []
    process = tuner if TASKS[settings.task].model else worker
    with _lock:
        _ended.pop(settings, None)
    try:
        while (made := process.next(settings)) is not None:
            progress.append(made)
            run = Run(settings, tuple(progress))
            with _lock:
                _so_far[settings] = run
            tell(made.step, steps, run)
    except (WorkerEndedError, NoRoomError) as error:
        with _lock:
            _ended[settings] = ENDED if isinstance(error, WorkerEndedError) else NO_ROOM
        return
    except BaseException:
        process.drop(settings)
        with _lock:
            _ended[settings] = LEFT
        raise
    with _lock:
        _runs[settings] = Run(settings, tuple(progress))
        _so_far.pop(settings, None)


def table_of(runs: Sequence[Run]) -> tuple[list[str], dict[str, list[str]]]:
    """Runs of one task: their names, and in columns sizes, parameters, steps and accuracy."""
    columns: dict[str, list[str]] = {}
    for run in runs:
        task = TASKS[run.settings.task](run.settings)
        sizes = task.sizes
        row = {
            "layers": f"{sizes.layers}",
            "heads": f"{sizes.heads}",
            "d_model": f"{sizes.width}",
            "parameters": f"{_parameters(run.settings):,}",
            "steps": f"{sizes.steps:,}",
        }
        told = max(3, *(len(each.last.loss) for each in runs))  # all networks in the first test
        row |= {
            name: f"{100 * run.accuracy(name):.1f} %" if name in run.last.accuracy else "–"
            for name in task.curves[:told]
        }
        for title, cell in row.items():
            columns.setdefault(title, []).append(cell)
    return [_name(run.settings) for run in runs], columns


@functools.lru_cache(maxsize=256)
def _parameters(settings: TrainingSettings) -> int:
    networks = TASKS[settings.task](settings).learners(torch.Generator().manual_seed(0))
    return count(networks[ATTENTION])


def _name(settings: TrainingSettings) -> str:
    """Name of a run: what differs from the usual one."""
    differs = [] if settings.handicap == NONE else [settings.handicap]
    for name, about in declared(TrainingSettings).items():
        value = getattr(settings, name)
        if name not in ("task", "handicap") and value != about.default:
            differs.append(f"{about.label.split(',')[0].lower()} {value}")
    return ", ".join(differs) or "usual"
