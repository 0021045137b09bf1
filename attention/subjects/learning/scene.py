"""Scenes of Watch it learn: its task, a training as far as it is, all runs side by side."""

from __future__ import annotations

from collections.abc import Sequence

from attention.figures.scene import Scene, Table, Words, scene
from attention.subjects.learning import controls
from attention.subjects.learning.figures import StepsOfTraining
from attention.training import TASKS, Run, TrainingSettings
from attention.training.finished import finished as packaged
from attention.training.settings import HANDICAPS, NONE

KEY = "learning_figure"
NOT_LEARNED = "This one has not been learned here yet. It takes from ten seconds to a minute."
STARTING = "The process that trains is starting."


def task(settings: TrainingSettings) -> Scene:
    """Words on the task, and on what is taken away from its network."""
    handicap = settings.handicap
    return scene(
        _with_examples(TASKS[settings.task].before),
        Words(f"Taken away: {HANDICAPS[handicap]}.") if handicap != NONE else None,
    )


def finished(run: Run, brief: bool = False) -> Scene:
    """A training that is over, with what it shows. brief: the maps alone, without curves."""
    name = run.settings.task
    plays = brief or run is packaged(name)
    return scene(
        StepsOfTraining(run, plays=plays, brief=brief, key=KEY),
        None if brief else _with_examples(TASKS[name](run.settings).after(run)),
    )


def under_way(run: Run | None, brief: bool = False) -> Scene:
    """A training as it goes, None: its first step is not told yet. brief: see `finished`."""
    if run is None:
        return scene(Words(STARTING))
    return scene(StepsOfTraining(run, live=True, brief=brief, key=KEY))


def unfinished(run: Run | None, brief: bool = False) -> Scene:
    """A training that was left, None: it was never begun here. brief: see `finished`."""
    if run is None:
        return scene(Words(NOT_LEARNED))
    return scene(StepsOfTraining(run, brief=brief, key=KEY))


def first_step(run: Run) -> Scene:
    """The maps of a training before anything is learned."""
    return scene(StepsOfTraining(run, brief=True, key="before_learning"))


def side_by_side(runs: Sequence[Run]) -> Scene:
    """All runs of a task in one table."""
    return scene(Table("runs side by side", *controls.table_of(runs)))


def _with_examples(words: str) -> Words:
    """Words of a task, in which examples stand between asterisks."""
    return Words(words.split("*"), "prose")
