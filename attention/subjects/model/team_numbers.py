"""Heads that go out one after the other: found, asked elsewhere and beside chance, once for all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import torch
from torch import Tensor

from attention.analysis.dependencies import sentences_for
from attention.analysis.means_on_corpus import LOSSES_OVER, MEANS_OVER
from attention.analysis.sentences import ANSWERED, in_other_words
from attention.app.cached import kept
from attention.app.cached.runs import run_model
from attention.app.state.shared import load_model
from attention.atlas.passport import Mean
from attention.atlas.random_rotation import random_rotation
from attention.atlas.sentences import word_of
from attention.atlas.statistics import mean_of
from attention.changing import team
from attention.changing.change import Head, changes
from attention.changing.effects import effects, losses_after
from attention.changing.known import Known, Progress
from attention.changing.team import Found
from attention.core.printing import distinct_names
from attention.hosting.jobs import PARTS, Step, Tell
from attention.subjects.model import numbers, pair_numbers
from attention.subjects.model.answers import Answered, kind_of
from attention.subjects.model.head_sentences import OTHERS
from attention.subjects.model.numbers import AnswerQuery

MOST_SHOWN = 6  # heads of a team whose going out is shown
MOST_NEEDED = 4  # heads that the search for the most needed ones finds


@dataclass(frozen=True)
class Search:
    """Search for the heads that an answer needs most.

    start: those that are off before; most: how many more are to be found; every: whether each step
    tries all heads, not the candidates alone; turned: whether the step of each head to its
    replacement is turned, in a random direction. Of two models it ends where half of the change is
    undone.
    """

    asked: AnswerQuery
    start: tuple[Head, ...] = ()
    most: int = MOST_NEEDED
    every: bool = False
    turned: bool = False


@kept(4)
def _turned_of(asked: AnswerQuery) -> Mapping[Head, Tensor]:
    to = numbers.replacement_of(asked)
    means = [torch.zeros_like(one) for one in numbers.means_of(asked.model)] if to == "zero" else to
    return random_rotation(run_model(asked.model, asked.text), means)


@kept(16, key=lambda asked, progress: asked)
def _turned_effects_of(asked: AnswerQuery, progress: Progress) -> Tensor:
    model, run = load_model(asked.model), run_model(asked.model, asked.text)
    metric, _ = numbers.metric_of(asked)
    return effects(model, run, metric, to=_turned_of(asked), progress=progress).change


def _key(search: Search, off: tuple[Head, ...]) -> tuple[object, ...]:
    return search.asked, frozenset(off), search.every, search.turned


@kept(512, key=lambda search, off, progress: _key(search, off))
def _next_of(search: Search, off: tuple[Head, ...], progress: Progress) -> Found | None:
    asked = search.asked
    model, run = load_model(asked.model), run_model(asked.model, asked.text)
    metric, _ = numbers.metric_of(asked)
    known = None
    if not (search.every and off):
        of_heads = _turned_effects_of if search.turned else numbers.effects_of
        known = of_heads(asked, progress)
    return team.next_head(
        Known(model, run, metric),
        off,
        _turned_of(asked) if search.turned else numbers.replacement_of(asked),
        effects=known,
        sign=numbers.answered(asked).searched,
        progress=progress,
    )


def _search(search: Search, tell: Tell) -> None:
    """Find one head after the other, and tell those that are there."""
    off = search.start
    for step in range(search.most):

        def progress(done: int, of: int, step: int = step) -> None:
            tell(PARTS * step + PARTS * done // of, PARTS * search.most)

        found = None if _is_over(search, off) else _next_of(search, off, progress)
        if found is None:
            return
        off = (*off, found.head)
        tell(PARTS * (step + 1), PARTS * search.most, off)


def _is_over(search: Search, off: tuple[Head, ...]) -> bool:
    """True if a search among the heads of two models has undone half of the change."""
    now = numbers.answered(search.asked, off)
    if now.other is None or search.most == 1:
        return False
    undone, whole = now.before - now.now, now.before - now.other.share
    return bool(off) and now.searched * undone >= now.searched * whole / 2


def search_of(asked: AnswerQuery, every: bool = False) -> Search:
    """The search for the heads that an answer needs most, or that carry the change of one."""
    return Search(asked, most=MOST_SHOWN if asked.other else MOST_NEEDED, every=every)


def found_by(search: Search) -> tuple[Head, ...] | None:
    """The heads that a search has found, behind those it started from; None while it has not."""
    found = _found_by(search)
    return None if found is None else (*search.start, *(one.head for one in found))


def _found_by(search: Search) -> list[Found] | None:
    off, several = search.start, []
    for _ in range(search.most):
        if _is_over(search, off):
            break
        key = _key(search, off)
        if key not in _next_of.cache:
            return None
        found = _next_of.cache[key]
        if found is None:
            break
        off = (*off, found.head)
        several.append(found)
    return several


def steps_to_team(search: Search) -> list[Step]:
    """Remaining steps until a search is over."""
    if found_by(search) is not None:
        return []
    tried = "all heads at each step" if search.every else "heads"
    title = f"{'Putting in' if search.asked.other else 'Switching off'} {tried}, one more each time"
    if search.turned:
        title = "The same search in random directions"
    before = [] if search.turned else numbers.steps_to_effects(search.asked)
    return [*before, Step(title, search, partial(_search, search))]


def tried_for(asked: AnswerQuery, off: tuple[Head, ...]) -> int | None:
    """The number of heads tried to find the last of some, None where it was not searched for."""
    for every in (True, False):
        found = _next_of.cache.get(_key(Search(asked, every=every), off[:-1]))
        if found is not None and found.head == off[-1]:
            return found.tried
    return None


# Beside them


@dataclass(frozen=True, eq=False)
class Beside:
    """Doubts on a team.

    elsewhere: the cost of its loss on other sentences, None of one head whose passport has it;
    directions: how many random directions the same search has tried, and turned: the metric after
    as many as the team has heads; others: the metric without the teams that it has found for other
    answers; reworded: each text that asks the same in other words, with the answer's share there
    with all heads and without the team.
    """

    elsewhere: Mean | None
    directions: int
    turned: float
    others: Sequence[float]
    reworded: Sequence[tuple[str, float, float]]


@kept(256, key=lambda asked, off, progress: (asked.model, asked.way, frozenset(off)))
def _elsewhere_of(asked: AnswerQuery, off: tuple[Head, ...], progress: Progress) -> Mean:
    others = sentences_for(asked.model)[MEANS_OVER : MEANS_OVER + LOSSES_OVER]
    model, off_there = load_model(asked.model), changes(off, numbers.replacement_of(asked))
    costs = losses_after(model, others, [off_there], progress)[:, 0]
    return mean_of(costs.tolist())


def _searches(asked: AnswerQuery, count: int) -> tuple[Search, list[Search]]:
    """The search for as many heads in random directions, and those for other answers."""
    answers = [text for name, text in ANSWERED if name == asked.model]
    texts = [text for text in answers or sentences_for(asked.model) if text != asked.text]
    others = [numbers.asked_last(asked.model, text, asked.way) for text in texts[:OTHERS]]
    every = [Search(each, most=count) for each in others]
    return Search(asked, most=count, turned=True), every


@kept(256, key=lambda asked, off: (asked, frozenset(off)))
def _reworded_of(asked: AnswerQuery, off: tuple[Head, ...]) -> list[tuple[str, float, float]]:
    """The answer's share in other words, with all heads and without some; not where it is another
    answer there."""
    if kind_of(load_model(asked.model)) != "piece":
        return []
    now, found = numbers.answered(asked), []
    for text in in_other_words(asked.text):
        there = numbers.answered(replace(asked, text=text), off)
        if there.word == now.word:
            found.append((text, there.before, there.now))
    return found


def steps_to_beside(asked: AnswerQuery, off: tuple[Head, ...]) -> list[Step]:
    """Remaining steps until all is known that stands beside a team."""
    if asked.other:
        return pair_numbers.steps_to_chance(asked, off)
    if asked.second:
        return []
    steps = []
    asks_others = len(off) > 1 or not numbers.costs_of(asked)
    if asks_others and _elsewhere_key(asked, off) not in _elsewhere_of.cache:
        title, key = "Asking other sentences", ("elsewhere", asked.model, asked.way, off)
        steps.append(Step(title, key, partial(_elsewhere_of, asked, off)))
    turned_search, others = _searches(asked, len(off))
    for search in (turned_search, *others):
        steps += steps_to_team(search)
    return steps


def _elsewhere_key(asked: AnswerQuery, off: tuple[Head, ...]) -> tuple[object, ...]:
    return asked.model, asked.way, frozenset(off)


def beside_of(asked: AnswerQuery, off: tuple[Head, ...]) -> Beside | None:
    """Doubts on the heads that are off, None while they are not worked out, and of heads that are
    as in another run, which have none."""
    if not off or asked.of_a_run or steps_to_beside(asked, off):
        return None
    turned_search, others = _searches(asked, len(off))
    found = _found_by(turned_search) or []
    teams = [found_by(search) or () for search in others]
    before = numbers.answered(asked).before
    return Beside(
        _elsewhere_of.cache.get(_elsewhere_key(asked, off)),
        numbers.effects_so_far(asked).numel(),
        found[-1].metric if found else before,
        [numbers.answered(asked, each).now for each in teams],
        _reworded_of(asked, off),
    )


# Each of them


def stages_of(asked: AnswerQuery, off: Sequence[Head]) -> list[Answered]:
    """The answer with all heads on, and as each of some is switched off too."""
    return [numbers.answered(asked, tuple(off[:count])) for count in range(len(off) + 1)]


@kept(256)
def _row_of(asked: AnswerQuery, head: Head) -> tuple[list[str], int, Tensor]:
    layer_input = run_model(asked.model, asked.text).inputs[head[0]]
    pieces = layer_input.pieces if layer_input.memory_pieces is None else layer_input.memory_pieces
    names = distinct_names([*map(word_of, pieces.texts)])
    itself = asked.position % len(layer_input.pieces.ids) if layer_input.memory is None else -1
    return names, itself, layer_input.trace().weights[head[1], asked.position]


def looked_at(asked: AnswerQuery, head: Head) -> tuple[str, float] | None:
    """The word that a head looks at most from where the answer is, and its weight there.

    None of an encoder's heads behind which a decoder writes: the answer does not stand there.
    """
    run = run_model(asked.model, asked.text)
    if run.inputs[-1].layer.crosses and not run.inputs[head[0]].layer.crosses:
        return None
    names, itself, row = _row_of(asked, head)
    key = int(row.argmax())
    return "itself" if key == itself else f"“{names[key]}”", float(row[key])
