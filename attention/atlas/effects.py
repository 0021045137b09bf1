"""Effects of each head's loss: on the answers of prompts, and on sentences at large."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from attention.atlas.claims import NEEDED
from attention.atlas.corpus import Corpus, CorpusItem
from attention.atlas.passport import HALVES, Cost, Effects, Kind, Mean, Text, Turned
from attention.atlas.stages import Subject
from attention.atlas.statistics import clear_of, mean_of
from attention.changing.answers import Metric, answer_at
from attention.changing.change import CORPUS, ZERO, Head, changes
from attention.changing.effects import effects, losses_after
from attention.trained.models import Model, Run

POINT = 0.01
AGREED = 5  # decimals
MOST = 5  # prompts that hang on a head, and their controls
NO_PIECE = -1

Raw = Sequence[dict[str, Tensor]]


def ways(subject: Subject, asked: CorpusItem) -> dict[str, Any]:
    """Replacements of heads on a text, by name, see `changing.change.Change`."""
    return {CORPUS: subject.means} | ({ZERO: ZERO} if asked.by_zero else {})


@dataclass(frozen=True)
class OnAnswers:
    """On each prompt the change of the model's answer without each head, see `answer_of`.

    Gives by each of `ways` a change for each head, (heads,); the answer's piece, -1 where it is a
    vector; and before, the answer's probability with all heads.
    """

    name: str = "effects"
    version: int = 2

    def texts(self, corpus: Corpus) -> Sequence[CorpusItem]:
        return corpus.prompts

    def measure(self, subject: Subject, asked: CorpusItem) -> dict[str, Tensor]:
        model, run = subject.model, subject.model.run(asked.text)
        metric, piece = answer_of(model, run)
        by_way = {
            way: effects_of_heads(subject, run, metric, to)
            for way, to in ways(subject, asked).items()
        }
        return {"piece": torch.tensor(piece), "before": metric(run.hidden).detach(), **by_way}


@dataclass(frozen=True)
class Elsewhere:
    """On each of some sentences the growth of the loss without each head, by each of `ways`
    (heads,), see `answers.loss_of`."""

    name: str = "elsewhere"
    version: int = 2

    def texts(self, corpus: Corpus) -> Sequence[CorpusItem]:
        return corpus.elsewhere

    def measure(self, subject: Subject, asked: CorpusItem) -> dict[str, Tensor]:
        return {
            way: losses_after(
                subject.model, [asked.text], [changes([head], to) for head in subject.heads]
            )[0]
            for way, to in ways(subject, asked).items()
        }


def effects_of_heads(subject: Subject, run: Run, metric: Metric, to: Any, **how: Any) -> Tensor:
    """By how much an answer changes without each of the heads that are measured. (heads,)."""
    layers = [*dict.fromkeys(layer for layer, _ in subject.heads)]
    found = effects(subject.model, run, metric, to=to, layers=layers, **how).change
    return torch.stack([found[layers.index(layer), head] for layer, head in subject.heads])


def answer_of(model: Model, run: Run) -> tuple[Metric, int]:
    """The probability of a model's answer where a text ends, and its piece, see
    `answers.answer_at`.

    For encoder-decoders it is that of the last piece they wrote that is part of their text; for
    models without an answer the cosine of the last word's vector to that of the run, with -1.
    """
    pieces = run.inputs[-1].pieces
    position = (pieces.kept(aside=True) or pieces.kept(aside=False))[-1]
    metric, piece = answer_at(model, run, position)
    if piece is None:
        return lambda states: 1 - metric(states), NO_PIECE
    return metric, piece


def prompts_of(subject: Subject, raw: Raw) -> tuple[Text, ...]:
    """The prompts as the atlas has them, with the answers that `OnAnswers` found."""
    return tuple(
        subject.text(
            asked,
            "" if int(one["piece"]) == NO_PIECE else subject.model.shown([int(one["piece"])])[0],
            float(one["before"]),
        )
        for asked, one in zip(subject.corpus.prompts, raw, strict=True)
    )


def summarised(
    subject: Subject, on_answers: Raw, elsewhere: Raw, turned: Mapping[CorpusItem, Tensor]
) -> dict[Head, Effects]:
    """Effects of each head, of what `OnAnswers` and `Elsewhere` measured.

    turned: of prompts what `random_rotation.OnRandomRotation` measured, (heads,).
    """
    corpus = subject.corpus
    by_mean = torch.stack([one[CORPUS] for one in on_answers])
    by_zero = [one.get(ZERO) for one in on_answers]
    costs = {
        way: [
            (asked.half, one.get(way))
            for asked, one in zip(corpus.elsewhere, elsewhere, strict=True)
        ]
        for way in (CORPUS, ZERO)
    }
    found = {}
    for at, head in enumerate(subject.heads):
        means = by_mean[:, at].tolist()
        zeros = [None if one is None else float(one[at]) for one in by_zero]
        hangs = hanging(means)
        turns = {asked: float(each[at]) for asked, each in turned.items()}
        kinds = kinds_of(corpus.prompts, means, zeros, turns)
        paid = {
            way: Cost(
                *_of_halves([(half, float(one[at])) for half, one in each if one is not None])
            )
            for way, each in costs.items()
        }
        found[head] = Effects(
            tuple(means),
            tuple(each for each in zeros if each is not None),
            kinds,
            paid[CORPUS],
            paid[ZERO],
            hangs,
            controls_of(corpus.prompts, means, hangs),
        )
    return found


def kinds_of(
    prompts: Sequence[CorpusItem],
    by_mean: Sequence[float],
    by_zero: Sequence[float | None],
    turned: Mapping[CorpusItem, float],
) -> tuple[Kind, ...]:
    """Effects on each kind of prompts, the most lost first, over both halves.

    turned: of all prompts of a kind, or of none.
    """
    found = []
    for kind in dict.fromkeys(asked.kind for asked in prompts):
        among = [at for at, asked in enumerate(prompts) if asked.kind == kind]
        where, means = [prompts[at].half for at in among], [by_mean[at] for at in among]
        halves = _of_halves([*zip(where, means, strict=True)])
        zeros = [zero for zero in (by_zero[at] for at in among) if zero is not None]
        turns = [turned[prompts[at]] for at in among if prompts[at] in turned]
        found.append(
            Kind(
                kind,
                *halves,
                needs(halves),
                mean_of(zeros) if zeros else None,
                turned_of(where, turns, means) if turns else None,
            )
        )
    return tuple(sorted(found, key=lambda one: _told(one.found.mean + one.checked.mean)))


def turned_of(halves: Sequence[str], turned: Sequence[float], by_mean: Sequence[float]) -> Turned:
    """The effects of a change as large in a random direction, of each prompt's half and effects."""
    both = _of_halves([*zip(halves, turned, strict=True)])
    apart = [turn - mean for turn, mean in zip(turned, by_mean, strict=True)]
    less = all(clear_of(one, 0) > 0 for one in _of_halves([*zip(halves, apart, strict=True)]))
    return Turned(*both, needs(both), less)


def needs(halves: Sequence[Mean]) -> bool:
    """True if answers surely lose on both halves, at least `NEEDED` each."""
    return all(clear_of(one, 0) < 0 and one.mean <= -NEEDED for one in halves)


def hanging(by_mean: Sequence[float]) -> tuple[int, ...]:
    """The prompts that lose most without a head, each at least a point."""
    order = sorted(range(len(by_mean)), key=lambda at: _told(by_mean[at]))
    return tuple(at for at in order[:MOST] if by_mean[at] <= -POINT)


def controls_of(
    prompts: Sequence[CorpusItem], by_mean: Sequence[float], hangs: Sequence[int]
) -> tuple[int, ...]:
    """For each prompt that hangs on a head another of its kind, the one of those left whose answer
    changes least."""
    found: list[int] = []
    for hung in hangs:
        left = [
            at
            for at, asked in enumerate(prompts)
            if asked.kind == prompts[hung].kind and at not in (*hangs, *found)
        ]
        found += sorted(left, key=lambda at: _told(abs(by_mean[at])))[:1]
    return tuple(found)


def _told(change: float) -> float:
    """A change as far as every processor agrees on it, to be ordered by."""
    return round(change, AGREED)


def _of_halves(numbers: Sequence[tuple[str, float]]) -> tuple[Mean, Mean]:
    """The means of the texts of either half."""
    found, checked = ([one for at, one in numbers if at == half] for half in HALVES)
    return mean_of(found), mean_of(checked)
