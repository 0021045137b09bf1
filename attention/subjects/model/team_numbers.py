"""Heads that go out one after the other: found, asked elsewhere and beside chance, once for all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from torch import Tensor

from attention.analysis.dependencies import sentences_for
from attention.analysis.losses_on_corpus import LOSSES_OVER, MEANS_OVER, standard_error
from attention.app.cached import kept
from attention.app.cached.runs import run_model
from attention.app.state.shared import load_model
from attention.changing import team
from attention.changing.change import Head, changes
from attention.changing.effects import losses_after
from attention.changing.known import Known, Progress
from attention.changing.team import Found
from attention.core.printing import distinct_names
from attention.hosting.jobs import PARTS, Step, Tell
from attention.subjects.model import numbers
from attention.subjects.model.numbers import Asked
from attention.subjects.model.words import AS_IN, MEAN, MOST_NEEDED, Answered, word_of

MOST_SHOWN = 6  # heads of a team whose going out is shown


@dataclass(frozen=True)
class Search:
    """Search for the heads that an answer needs most.

    start: those that are off before; most: how many more are to be found; every: whether each step
    tries all heads, not the candidates alone.
    """

    asked: Asked
    start: tuple[Head, ...] = ()
    most: int = MOST_NEEDED
    every: bool = False


@kept(512, key=lambda asked, off, every, progress: (asked, frozenset(off), every))
def _next_of(asked: Asked, off: tuple[Head, ...], every: bool, progress: Progress) -> Found | None:
    model, run = load_model(asked.model), run_model(asked.model, asked.text)
    metric, _ = numbers.metric_of(asked)
    effects = None if every and off else numbers.effects_of(asked, progress)
    return team.next_head(
        Known(model, run, metric),
        off,
        numbers.replacement_of(asked),
        effects=effects,
        sign=numbers.answered(asked).sign,
        progress=progress,
    )


def _search(search: Search, tell: Tell) -> None:
    """Find one head after the other, and tell those that are there."""
    off = search.start
    for step in range(search.most):

        def progress(done: int, of: int, step: int = step) -> None:
            tell(PARTS * step + PARTS * done // of, PARTS * search.most)

        found = _next_of(search.asked, off, search.every, progress)
        if found is None:
            return
        off = (*off, found.head)
        tell(PARTS * (step + 1), PARTS * search.most, off)


def found_by(search: Search) -> tuple[Head, ...] | None:
    """The heads that a search has found, behind those it started from; None while it has not."""
    off = search.start
    for _ in range(search.most):
        key = search.asked, frozenset(off), search.every
        if key not in _next_of.cache:
            return None
        found = _next_of.cache[key]
        if found is None:
            break
        off = (*off, found.head)
    return off


def steps_to_team(search: Search) -> list[Step]:
    """Remaining steps until a search is over."""
    if found_by(search) is not None:
        return []
    tried = "all heads at each step" if search.every else "heads"
    step = Step(f"Switching off {tried}, one more each time", search, partial(_search, search))
    return [*numbers.steps_to_effects(search.asked), step]


def tried_for(asked: Asked, off: Sequence[Head]) -> int | None:
    """The number of heads tried to find the last of some, None where it was not searched for."""
    for every in (True, False):
        key = asked, frozenset(off[:-1]), every
        found = _next_of.cache.get(key) if key in _next_of.cache else None
        if found is not None and found.head == off[-1]:
            return found.tried
    return None


# Beside them


@dataclass(frozen=True, eq=False)
class Beside:
    """Doubts on a team.

    elsewhere: the mean cost of its loss on other sentences, with its standard error, None where it
    has none there; chance: the metric without each of some teams of as many other heads of the
    same layers, none where a layer has too few others.
    """

    elsewhere: tuple[float, float] | None
    chance: Sequence[float]


@kept(256, key=lambda asked, off, progress: (asked.model, asked.way, frozenset(off)))
def _elsewhere_of(asked: Asked, off: tuple[Head, ...], progress: Progress) -> tuple[float, float]:
    others = sentences_for(asked.model)[MEANS_OVER : MEANS_OVER + LOSSES_OVER]
    model, off_there = load_model(asked.model), changes(off, numbers.replacement_of(asked))
    costs = losses_after(model, others, [off_there], progress)[:, 0]
    return float(costs.double().mean()), float(standard_error(costs))


@kept(256, key=lambda asked, off, progress: (asked, frozenset(off)))
def _chance_of(asked: Asked, off: tuple[Head, ...], progress: Progress) -> list[float]:
    model, run = load_model(asked.model), run_model(asked.model, asked.text)
    metric, _ = numbers.metric_of(asked)
    teams = team.other_teams(off, model.layers[0].attention.heads)
    if not teams:
        return []
    to = numbers.replacement_of(asked)
    several = [changes(each, to) for each in teams]
    answers: list[float] = Known(model, run, metric).after(several, progress).tolist()
    return answers


def steps_to_beside(asked: Asked, off: tuple[Head, ...]) -> list[Step]:
    """Remaining steps until all is known that stands beside a team."""
    steps = []
    if _known_elsewhere(asked, off) is None:
        title, key = "Asking other sentences", ("elsewhere", asked.model, asked.way, off)
        steps.append(Step(title, key, partial(_elsewhere_of, asked, off)))
    if _known_chance(asked, off) is None:
        title = "Switching off as many other heads of the same layers"
        steps.append(Step(title, ("chance", asked, off), partial(_chance_of, asked, off)))
    return steps


def beside_of(asked: Asked, off: tuple[Head, ...]) -> Beside | None:
    """Doubts on the heads that are off, None while they are not worked out."""
    if not off or steps_to_beside(asked, off):
        return None
    elsewhere, chance = _known_elsewhere(asked, off), _known_chance(asked, off)
    assert elsewhere is not None
    assert chance is not None
    return Beside(elsewhere or None, chance)


def _known_elsewhere(asked: Asked, off: tuple[Head, ...]) -> tuple[float, float] | tuple[()] | None:
    """The cost elsewhere as far as it is known; () where there is none, as of heads exchanged."""
    if asked.way == AS_IN:
        return ()
    there = numbers.elsewhere_of(asked)
    if there is not None and len(off) == 1:
        way = "mean" if asked.way == MEAN else "zero"
        return float(there.losses[way][off[0]]), float(there.errors[way][off[0]])
    return _elsewhere_of.cache.get((asked.model, asked.way, frozenset(off)))


def _known_chance(asked: Asked, off: tuple[Head, ...]) -> list[float] | None:
    """The metric by chance as far as it is known; of one head the map has it."""
    if len(off) == 1:
        effects = numbers.effects_so_far(asked)
        teams = team.other_teams(off, effects.shape[1])
        before = numbers.answered(asked).before
        found = [before + float(effects[head]) for (head,) in teams]
        return None if any(each != each for each in found) else found
    return _chance_of.cache.get((asked, frozenset(off)))


# Each of them


def stages_of(asked: Asked, off: Sequence[Head]) -> list[Answered]:
    """The answer with all heads on, and as each of some is switched off too."""
    return [numbers.answered(asked, tuple(off[:count])) for count in range(len(off) + 1)]


@kept(256)
def _row_of(asked: Asked, head: Head) -> tuple[list[str], int, Tensor]:
    layer_input = run_model(asked.model, asked.text).inputs[head[0]]
    pieces = layer_input.pieces if layer_input.memory_pieces is None else layer_input.memory_pieces
    names = distinct_names([*map(word_of, pieces.texts)])
    itself = asked.position % len(layer_input.pieces.ids) if layer_input.memory is None else -1
    return names, itself, layer_input.trace().weights[head[1], asked.position]


def looked_at(asked: Asked, head: Head) -> tuple[str, float] | None:
    """The word that a head looks at most from where the answer is, and its weight there.

    None of an encoder's heads behind which a decoder writes: the answer does not stand there.
    """
    run = run_model(asked.model, asked.text)
    if run.inputs[-1].layer.crosses and not run.inputs[head[0]].layer.crosses:
        return None
    names, itself, row = _row_of(asked, head)
    key = int(row.argmax())
    return "itself" if key == itself else f"“{names[key]}”", float(row[key])
