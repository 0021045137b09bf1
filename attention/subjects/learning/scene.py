"""Scenes of Watch it learn: its task, a training as far as it is, all runs side by side."""

from __future__ import annotations

from collections.abc import Sequence

from attention.core.printing import listed
from attention.figures.scene import Scene, Table, Words, note, scene
from attention.subjects.learning import controls
from attention.subjects.learning.figures import StepsOfTraining
from attention.subjects.learning.race import RaceOfMemory
from attention.training import TASKS, Run, TrainingSettings
from attention.training.finished import packaged
from attention.training.settings import HANDICAPS, NONE
from attention.training.tasks.race import EQUAL_AT, RATES, SHOWN, TUNED, Race, rates_tried

KEY = "learning_figure"
NOT_LEARNED = "This one has not been learned here yet. It takes from ten seconds to a minute."
NOT_TUNED = "This one has not been learned here yet. It takes a few minutes."


def task(settings: TrainingSettings) -> Scene:
    """Words on the task, and on what is taken away from its network."""
    handicap = settings.handicap
    return scene(
        _with_examples(TASKS[settings.task].before),
        Words(f"Taken away: {HANDICAPS[handicap]}.") if handicap != NONE else None,
    )


def reply(run: Run | None, name: str, bet: str) -> Scene:
    """Verdict on a bet on a task, "" of one that asks for none, with the numbers of its run.

    run: the finished training, None while there is none.
    """
    if run is None:
        return scene(Words(f"You bet on “{bet}”: let it learn, and see.", "told") if bet else None)
    task = TASKS[name](run.settings)
    verdict = None
    if bet:
        true = task.choices[task.winning_bet(run)]
        verdict = Words(f"{'Right' if bet == true else 'Not this time'}: {true}.", "told")
    return scene(verdict, _with_examples(task.after(run)))


def finished(run: Run, brief: bool = False, pairs: int = SHOWN[-1], told: bool = True) -> Scene:
    """A training that is over, with what it shows.

    brief: the maps alone, without curves; pairs: of the list that is shown of a race; told: whether
    words say how it ended.
    """
    plays = brief or run is packaged(run.settings)
    return scene(
        _steps(run, brief, plays=plays, pairs=pairs),
        None
        if brief or not told
        else _with_examples(TASKS[run.settings.task](run.settings).after(run)),
    )


def under_way(run: Run, brief: bool = False) -> Scene:
    """A training as it goes. brief: see `finished`."""
    return scene(_steps(run, brief, live=True))


def unfinished(run: Run, brief: bool = False, ended: str = "") -> Scene:
    """A training that was left, or was never begun here.

    brief: see `finished`; ended: words on its end before its last step.
    """
    begun = brief or run.last.step
    return scene(
        note(ended) if ended else None,
        _steps(run, brief),
        None if begun else Words(NOT_TUNED if TASKS[run.settings.task].model else NOT_LEARNED),
    )


def _steps(
    run: Run, brief: bool, live: bool = False, plays: bool = False, pairs: int = SHOWN[-1]
) -> StepsOfTraining | RaceOfMemory:
    if run.settings.task == Race.name:
        return RaceOfMemory(run, pairs, live, plays, brief, key=KEY)
    other = None if brief else controls.beside(run.settings)
    return StepsOfTraining(run, live, plays, brief, other, key=KEY)


def side_by_side(runs: Sequence[Run]) -> Scene:
    """All runs of a task in one table."""
    return scene(Table("runs side by side", *controls.table_of(runs)))


def rates() -> Scene:
    """Rates that were tried for each network of the race."""
    tried, usual = rates_tried(), f"{Race.usual.rate:g}"
    columns = {
        f"{rate:g}": [shares.get(str(rate), "–") for shares in tried.values()] for rate in RATES
    }
    return scene(
        Words(
            f"Right answers over lists of all lengths by learning rate, at {EQUAL_AT} × {EQUAL_AT} "
            f"and seed 0. There {listed(TUNED)} race at their best rate, all else at {usual}: "
            "no other rate is better by more than three seeds differ."
        ),
        Table("right answers by learning rate", [*tried], columns, digits=3),
    )


def _with_examples(words: str) -> Words:
    """Words of a task, in which examples stand between asterisks."""
    return Words(words.split("*"), "prose")
