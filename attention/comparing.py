"""`attention.compare(base, tuned, texts, answer=…)`: the heads that a tuning works by.

Each head is transplanted both ways, see `transplants`, and beside that stand the changes of its
weights and of its maps: of these alone nobody knows if they matter.

May import: trained, changing, atlas; torch, pandas.
"""

from __future__ import annotations

import functools
import math
import random
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pandas
import torch
from torch import Tensor, nn

from attention.atlas.statistics import student
from attention.changing.answers import Answer, loss_of, loss_of_tokens
from attention.changing.batches import read
from attention.changing.change import Head
from attention.changing.known import Progress
from attention.changing.team import DRAWS, Found, candidates, costliest, greedily, other_teams
from attention.changing.transplants import (
    Pair,
    Transplants,
    map_changes,
    pair,
    transplants_of,
    weight_changes,
)
from attention.trained.models import Model

Models = nn.Module | Model
POINTS = 100.0  # of a probability
HALF = 0.5  # of a change, which a team carries
LEAST_NET = 0.1  # of the mean change's size: of a smaller net change no share is told
MOST = 16  # heads of a team
KEPT = 16  # texts whose runs are kept


@dataclass(frozen=True, eq=False)
class Comparison:
    """A base and what was tuned of it, head by head, over some texts.

    Answers and their changes are in points, hundredths of a probability, or in the unit of an
    answer that is none. Intervals, `…_low` to `…_high`, are of the mean over the texts by Student's
    t, 95 %; nan of one text.

    heads: by (layer, head): `put_back`, by how much the tuned model's answer moves with this head
    as in the base; `put_in`, the base's with the tuned one; `map_change`, of its weights on these
    texts, Jensen–Shannon divergence in bits; `qk_change`, `ov_change`, see
    `transplants.WeightChanges`; `loss_elsewhere`, by how many nats a token other texts cost more
    with this head put back, nan where none were given; `put_back_1` …, of each of the others.
    answers: by text: `text`, the answers of `base` and `tuned`, and `all_put_back`, of the tuned
    model with all heads as in the base.
    team: by size: `layer` and `head` of the one that is put back beside those before, the mean
    `answer` then, the share of the change that is `undone`, and what as many heads at random leave
    of the answer, mean and range, others of the `same_layers` and `any` others; `rank_1` … of the
    head by its `put_back` among all heads of each of the others.
    others: by number, of other tunings of the base: `change` of the answer, and `spearman`, the
    rank correlation of their `put_back` with this tuning's over all heads.
    outside_heads: the share of the change that all heads put back leave, which lies in
    feed-forwards, output projections, norms and embeddings; nan where the changes of several texts
    cancel out.
    """

    heads: pandas.DataFrame
    answers: pandas.DataFrame
    team: pandas.DataFrame
    others: pandas.DataFrame
    outside_heads: float


class Question(NamedTuple):
    """A text as it is shown, what the model takes of it, and its answer."""

    text: str
    inputs: Any
    answer: Answer


@torch.no_grad()
def compare(
    base: Models,
    tuned: Models,
    texts: Any,
    answer: Any,
    *,
    others: Sequence[Models] = (),
    elsewhere: Any = (),
    tokenizer: Any = None,
    most: int = MOST,
    draws: int = DRAWS,
    seed: int = 0,
    progress: Progress | None = None,
) -> Comparison:
    """Compare a base with what was tuned of it, head by head, see `Comparison`.

    base, tuned: two models of one shape, of this project or of PyTorch; texts: one, several, or the
    path of a file with one on each line; of models of PyTorch texts for their `tokenizer`, or
    inputs as the model takes them; answer: a word, as in `effects.effects`, a tuple of two, or a
    function, for all texts; or a list of these, one for each. others: further tunings of the base,
    as with other seeds; elsewhere: other texts, whose loss each head is asked for; most: heads of a
    team, 0 for none; draws: teams at random of each size; progress: is told of each text how many
    steps of how many are done, and stops all by an exception. Raises ValueError where models,
    texts and answers do not fit.
    """
    questions = questions_of(texts, answer, tokenizer, tuned)
    shares = {not (callable(each) or isinstance(each, tuple)) for *_, each in questions}
    if len(shares) > 1:
        raise ValueError("answers must be words alone or none: a table has one unit, got both")
    unit = POINTS if shares == {True} else 1.0
    places = questions_of(elsewhere, 0, tokenizer, tuned) if elsewhere else []
    of = len(questions) * (1 + len(others)) + len(places) + bool(most)
    steps = iter(range(1, of + 1))

    def done() -> None:
        step = next(steps)
        if progress is not None:
            progress(step, of)

    @functools.lru_cache(KEPT)
    def sides(at: int) -> Pair:
        return pair(base, tuned, *questions[at][1:], tokenizer)

    found: list[Transplants] = []
    maps: list[Tensor] = []
    for at in range(len(questions)):
        found.append(transplants_of(sides(at)))
        layers = sorted(sides(at).tuned.asked.counts)  # those with a softmax
        maps.append(map_changes(sides(at).base.own, sides(at).tuned.own).cpu()[layers])
        done()
    numbers = Numbers(*(unit * torch.stack(each) for each in zip(*map(_parts, found), strict=True)))
    heads = heads_table(numbers, torch.stack(maps), layers, base, tuned)
    losses = [_loss_elsewhere(base, tuned, one.inputs, done) for one in places]
    heads["loss_elsewhere"] = torch.stack(losses).mean(0).numpy() if losses else math.nan
    rows = []
    for number, other in enumerate(others, 1):
        change = []
        for one in questions:
            both = pair(base, other, *one[1:], tokenizer).tuned
            after = both.after([[head] for head in both.heads])
            change.append((after - both.asked.before, both.asked.before))
            done()
        moved, answers = (
            unit * torch.stack(each).double().cpu().mean(0) for each in zip(*change, strict=True)
        )
        heads[f"put_back_{number}"] = moved.numpy()
        rank = heads["put_back"].corr(heads[f"put_back_{number}"], method="spearman")
        rows.append((float(answers - numbers.base.mean()), float(rank)))
    team = carriers(sides, numbers.scaled(1 / unit), most, draws, seed) if most else []
    if most:
        done()
    return Comparison(
        heads,
        _answers(questions, numbers),
        _team_table(team, numbers, heads, len(others), unit),
        pandas.DataFrame(rows, columns=["change", "spearman"], index=range(1, len(others) + 1)),
        numbers.outside_heads,
    )


class Numbers(NamedTuple):
    """Transplants over texts: answers (texts,), and moves of these (texts, layers, heads)."""

    base: Tensor
    tuned: Tensor
    put_back: Tensor
    put_in: Tensor
    all_put_back: Tensor

    @property
    def change(self) -> float:
        """By how much the tuning moves the mean answer."""
        return float((self.tuned - self.base).mean())

    @property
    def outside_heads(self) -> float:
        """The share of the change that all heads put back leave; nan where the changes of several
        texts cancel out."""
        changes = self.tuned - self.base
        apart = abs(self.change) > LEAST_NET * float(changes.abs().mean())
        return float((self.all_put_back - self.base).mean()) / (self.change if apart else math.nan)

    def scaled(self, by: float) -> Numbers:
        return Numbers(*(by * each for each in self))


def _parts(one: Transplants) -> tuple[Tensor, ...]:
    return tuple(getattr(one, name).double().cpu() for name in Numbers._fields)


def questions_of(texts: Any, answer: Any, tokenizer: Any, model: Models) -> list[Question]:
    """Texts with what a model takes of them and their answers, see `compare`."""
    if isinstance(texts, Path):
        texts = [line for line in texts.read_text("utf-8").splitlines() if line.strip()]
    several = [texts] if isinstance(texts, str | Mapping | Tensor) else [*texts]
    if not several:
        raise ValueError("there must be at least one text, got none")
    answers = answer if isinstance(answer, list) else [answer] * len(several)
    if len(answers) != len(several):
        raise ValueError(f"answer must be one for each of {len(several)} texts, got {len(answers)}")
    return [
        Question(one if isinstance(one, str) else f"text {at}", read(model, one, tokenizer), word)
        for at, (one, word) in enumerate(zip(several, answers, strict=True))
    ]


def _loss_elsewhere(base: Models, tuned: Models, inputs: Any, done: Callable[[], None]) -> Tensor:
    """By how many nats a token a text costs more with each head put back, of all. (heads,)."""
    loss: Any = loss_of_tokens(inputs)
    if isinstance(tuned, Model):
        loss = loss_of(tuned, tuned.run(inputs))
    side = pair(base, tuned, inputs, loss).tuned
    after: Tensor = side.after([[head] for head in side.heads]) - side.asked.before
    done()
    return after.cpu()


def heads_table(
    numbers: Numbers, maps: Tensor, layers: Sequence[int], base: Models, tuned: Models
) -> pandas.DataFrame:
    """The means over texts of each head with their intervals, beside the changes of its weights.

    maps: (texts, layers, heads); layers: their numbers.
    """
    texts, _, heads = maps.shape
    index = pandas.MultiIndex.from_product([layers, range(heads)], names=["layer", "head"])
    columns: dict[str, Tensor] = {}
    for name, moved in (("put_back", numbers.put_back), ("put_in", numbers.put_in)):
        mean = moved.mean(0)
        width = student(texts - 1) * moved.std(0) / texts**0.5 if texts > 1 else mean * math.nan
        columns |= {name: mean, f"{name}_low": mean - width, f"{name}_high": mean + width}
    columns["map_change"] = maps.nanmean(0)
    for name, change in zip(("qk_change", "ov_change"), weight_changes(base, tuned), strict=True):
        columns[name] = change if change.shape == maps[0].shape else maps[0] * math.nan
    numbered = {name: each.flatten().cpu().numpy() for name, each in columns.items()}
    return pandas.DataFrame(numbered, index=index)


def _answers(questions: Sequence[Question], numbers: Numbers) -> pandas.DataFrame:
    words = [one.answer for one in questions]
    named = [getattr(word, "__name__", "") if callable(word) else word for word in words]
    answers = {name: getattr(numbers, name).numpy() for name in ("base", "tuned", "all_put_back")}
    return pandas.DataFrame({"text": [one.text for one in questions], "answer": named, **answers})


class Member(NamedTuple):
    """A head of a team, and the mean answer as it is put back beside those before; the same of as
    many heads at random, others of the same layers, and any others."""

    head: Head
    answer: float
    same_layers: Tensor
    any: Tensor


def carriers(
    sides: Callable[[int], Pair], numbers: Numbers, most: int, draws: int, seed: int
) -> list[Member]:
    """Heads that undo half of the change, one after the other by greedy search.

    Each step tries those of the greatest effect alone.
    """
    moved, before = numbers.put_back.mean(0), float(numbers.tuned.mean())
    sign = 1 if numbers.change > 0 else -1
    layers = sorted(sides(0).tuned.asked.counts)  # those with a softmax

    def after(teams: Sequence[Collection[Head]], beside: Collection[Head] = ()) -> Tensor:
        every = (sides(at).tuned.beside(beside) for at in range(len(numbers.base)))
        return torch.stack([side.after(teams) for side in every]).double().cpu().mean(0)

    def step(found: Sequence[Found]) -> Found | None:
        now = found[-1].metric if found else before
        if sign * (before - now) >= HALF * abs(numbers.change):
            return None
        off = [one.head for one in found]
        places = [(layers.index(layer), head) for layer, head in off]
        tried = [(layers[at], head) for at, head in candidates(moved, moved, places, sign)]
        return costliest(tried, after([[head] for head in tried], off), now, sign)

    found = [*greedily(most, step)]
    heads, chance = sides(0).tuned.heads, random.Random(seed)
    counts = moved.shape[1]
    members = []
    for size, one in enumerate(found, 1):
        team = [each.head for each in found[:size]]
        same = other_teams(team, counts, draws, seed)
        rest = [head for head in heads if head not in team]
        any_ = [chance.sample(rest, size) for _ in range(draws)] if len(rest) >= size else []
        at_random = after([*same, *any_]) if same or any_ else torch.empty(0)
        members.append(Member(one.head, one.metric, *at_random.split([len(same), len(any_)])))
    return members


def _team_table(
    team: Sequence[Member], numbers: Numbers, heads: pandas.DataFrame, others: int, unit: float
) -> pandas.DataFrame:
    tuned = float(numbers.tuned.mean())
    rows = []
    for one in team:
        answer = unit * one.answer
        row = {"layer": one.head[0], "head": one.head[1], "answer": answer}
        row["undone"] = (tuned - answer) / numbers.change
        for name, drawn in (("same_layers", one.same_layers), ("any", one.any)):
            drawn = drawn if len(drawn) else torch.full((1,), math.nan)
            ends = {"": drawn.mean(), "_low": drawn.min(), "_high": drawn.max()}
            row |= {name + end: unit * float(number) for end, number in ends.items()}
        for number in range(1, others + 1):
            ranks = heads[f"put_back_{number}"].abs().rank(ascending=False, method="min")
            row[f"rank_{number}"] = int(ranks[one.head])
        rows.append(row)
    return pandas.DataFrame(rows, index=pandas.RangeIndex(1, len(rows) + 1, name="size"))
