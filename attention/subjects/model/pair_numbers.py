"""A model beside another one of its shape: maps and weights of their heads, and other answers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from torch import Tensor

from attention.app.cached import kept
from attention.app.cached.runs import run_model
from attention.app.state.shared import load_model
from attention.atlas import moved
from attention.atlas.moved import Moved
from attention.changing.change import Head, changes
from attention.changing.known import Known, Progress
from attention.changing.team import other_teams
from attention.changing.transplants import WeightChanges, map_changes, weight_changes
from attention.hosting.jobs import Step
from attention.subjects.model import numbers
from attention.subjects.model.answers import BASE
from attention.subjects.model.numbers import AnswerQuery
from attention.trained.models import Transformer

Pair = tuple[str, str]  # names of a base, and of what was tuned of it


def pair_of(asked: AnswerQuery) -> Pair:
    """The base and the tuned model of a window that has both."""
    other = numbers.answered(asked).other
    assert other is not None
    return (asked.model, asked.other) if other.own == BASE else (asked.other, asked.model)


@kept(4, key=lambda pair, progress: pair)
def _weights_of(pair: Pair, progress: Progress) -> WeightChanges:
    return weight_changes(*map(load_model, pair))


def weights_moved(pair: Pair) -> WeightChanges | None:
    """The relative change of W_QK and W_OV of each head; None while that is not worked out."""
    return _weights_of.cache.get(pair)


def steps_to_changes(asked: AnswerQuery) -> list[Step]:
    """Remaining steps until all effects are known, and of two models the changes of weights."""
    steps = numbers.steps_to_effects(asked)
    if not asked.other or weights_moved(pair := pair_of(asked)) is not None:
        return steps
    return [Step("Comparing weights", ("weights", pair), partial(_weights_of, pair)), *steps]


@kept(64)
def maps_moved(pair: Pair, text: str) -> Tensor:
    """The change of the map of each head on a text, in bits. (layers, heads)."""
    return map_changes(*(run_model(name, text) for name in pair))


@kept(64, key=lambda asked, off, progress: (asked, frozenset(off)))
def _chance_of(asked: AnswerQuery, off: tuple[Head, ...], progress: Progress) -> list[float]:
    model, run = load_model(asked.model), run_model(asked.model, asked.text)
    to, heads = numbers.replacement_of(asked), model.layers[0].attention.heads
    teams = [changes(each, to) for each in other_teams(off, heads)]
    known = Known(model, run, numbers.metric_of(asked)[0])
    return known.after(teams, progress).tolist() if teams else []


def chance_of(asked: AnswerQuery, off: tuple[Head, ...]) -> Sequence[float] | None:
    """The answer with as many other heads of the same layers as in the other model, for some teams
    drawn by chance; None while that is not worked out."""
    return _chance_of.cache.get((asked, frozenset(off)))


def steps_to_chance(asked: AnswerQuery, off: tuple[Head, ...]) -> list[Step]:
    """Remaining steps until `chance_of` is known."""
    if not off or chance_of(asked, off) is not None:
        return []
    return [Step("Putting in other heads", ("chance", asked, off), partial(_chance_of, asked, off))]


@kept(8, key=lambda pair, progress: pair)
def _moved_of(pair: Pair, progress: Progress) -> list[Moved]:
    base, tuned = map(load_model, pair)
    assert isinstance(base, Transformer)
    assert isinstance(tuned, Transformer)
    return moved.moved(base, tuned, progress)


def moved_of(pair: Pair) -> Sequence[Moved] | None:
    """Packaged prompts, first those whose answer moved most; None while not worked out."""
    return moved.packaged().get(pair[1]) or _moved_of.cache.get(pair)


def steps_to_moved(pair: Pair) -> list[Step]:
    """Remaining steps until `moved_of` is known."""
    if moved_of(pair) is not None:
        return []
    title = "Asking both models for other answers"
    return [Step(title, ("moved", pair), partial(_moved_of, pair))]
