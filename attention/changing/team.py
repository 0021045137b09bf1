"""A team: heads that an answer needs together, found one after the other, and two doubts on it.

Each step of the search switches one head more off. Trying all of them takes a run each; the
candidates of a step are those of the greatest effects alone and those that a gradient names, and
each of these is tried by a run. The doubts: what the team's loss costs other sentences, and what
the loss of as many other heads of the same layers does to this one.
"""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from attention.changing.answers import Answer
from attention.changing.batches import read
from attention.changing.change import ZERO, Change, Head, changes
from attention.changing.effects import losses_after, replacement, way_of
from attention.changing.experiment import Experiment, experiment
from attention.changing.known import Known, Progress
from attention.core.arguments import must_be
from attention.trained.layers import LayerRun
from attention.trained.models import Model

CANDIDATES = 24  # heads that a step of the search tries
DRAWS = 20  # other teams that a team is compared with


class Found(NamedTuple):
    """A head that was found, the metric without it too, and how many heads were tried for it."""

    head: Head
    metric: float
    tried: int


def costliest(tried: Sequence[Head], after: Tensor, before: float, sign: int = 1) -> Found | None:
    """The head without which a metric is lowest, None where that is no lower than before.

    after: the metric without each that was tried, (heads,); sign: 1 where a lower one is a loss.
    """
    best = int((sign * after).argmin())
    lost = sign * float(after[best]) < sign * before
    return Found(tried[best], float(after[best]), len(tried)) if lost else None


def greedily(most: int, step: Callable[[Sequence[Found]], Found | None]) -> Iterator[Found]:
    """Heads one after the other, each as `step` finds it beside those before; None ends it."""
    found: list[Found] = []
    while len(found) < most and (one := step(found)) is not None:
        found.append(one)
        yield one


def estimated_effects(asked: Known, off: Collection[Head] = (), to: Any = ZERO) -> Tensor:
    """An estimate of by how much an answer changes as each head is switched off beside others.

    (layers, heads). To first order: the gradient of the answer by a head's output, times the step
    from that output to its replacement (attribution patching, Nanda 2023; Syed et al. 2023,
    arXiv 2310.10348, eq. 1). One run forward and one backward; where the answer is flat it says 0.
    """
    nudges, steps = [], []

    def edit(layer: int, layer_run: LayerRun) -> LayerRun:
        output = layer_run.trace.output.clone()
        for change in changes([head for head in off if head[0] == layer], to):
            change.write(output)
        target = output.detach().clone()
        Change(layer, to=to, heads=range(target.shape[-3])).write(target)
        nudge = torch.zeros_like(target, requires_grad=True)
        nudges.append(nudge)
        steps.append(target - output.detach())
        return layer_run.edited(trace=replace(layer_run.trace, output=output + nudge))

    with torch.enable_grad():
        number = asked.metric(asked.model.hidden(asked.run.batch, edit=edit))
        slopes = torch.autograd.grad(number, nudges, materialize_grads=True)
    return torch.stack(
        [(slope * step).sum((-2, -1)) for slope, step in zip(slopes, steps, strict=True)]
    )


def candidates(
    effects: Tensor, estimates: Tensor, off: Collection[Head], sign: int = 1, most: int = CANDIDATES
) -> list[Head]:
    """Heads to be tried next: in turn the next by its effect alone, and by its estimate.

    effects, estimates: (layers, heads), of the metric, see `estimated_effects`; sign: 1 where a
    lower metric is a loss. At most so many, none twice, none that is off.
    """
    orders = [
        [divmod(at, each.shape[1]) for at in (sign * each).flatten().argsort(stable=True).tolist()]
        for each in (effects, estimates)
    ]
    in_turn = dict.fromkeys(itertools.chain.from_iterable(zip(*orders, strict=True)))
    return [head for head in in_turn if head not in off][:most]


def next_head(
    asked: Experiment,
    off: Collection[Head] = (),
    to: Any = ZERO,
    *,
    effects: Tensor | None = None,
    sign: int = 1,
    progress: Progress | None = None,
) -> Found | None:
    """The head whose loss costs most beside those that are off, None where none costs anything.

    to: see `Change`; effects: of each head of a known model alone, (layers, heads), which name the
    first one without a run and lead to `candidates` for others; without them all heads are tried;
    sign: 1 where a lower answer is a loss.
    """
    heads = [(layer, head) for layer in sorted(asked.counts) for head in range(asked.counts[layer])]
    before = float(asked.before)
    if not off and effects is not None:
        return costliest(heads, before + effects.flatten(), before, sign)
    tried = [head for head in heads if head not in off]
    if effects is not None:
        assert isinstance(asked, Known)
        tried = candidates(effects, estimated_effects(asked, off, to), off, sign)
    if not tried:
        return None
    there = asked.beside(changes(off, to))
    after = there.after([changes([head], to) for head in tried], progress)
    return costliest(tried, after, float(there.before), sign)


def other_teams(
    team: Collection[Head], heads: int | Mapping[int, int], draws: int = DRAWS, seed: int = 0
) -> list[list[Head]]:
    """Teams of as many other heads of the same layers.

    heads: how many each layer has, or by layer where their numbers differ. All there are where
    these are no more than `draws`; else so many, drawn with the seed, none twice. None where a
    layer has too few others.
    """
    counts = Counter(layer for layer, _ in team)
    others = {
        layer: [
            head
            for head in range(heads if isinstance(heads, int) else heads[layer])
            if (layer, head) not in team
        ]
        for layer in counts
    }
    there = math.prod(math.comb(len(others[layer]), count) for layer, count in counts.items())
    if there <= draws:
        ways = (itertools.combinations(others[layer], count) for layer, count in counts.items())
        return [_named(counts, some) for some in itertools.product(*ways)]
    drawn: dict[tuple[tuple[int, ...], ...], None] = {}
    chance = random.Random(seed)
    while len(drawn) < draws:
        some = (sorted(chance.sample(others[layer], count)) for layer, count in counts.items())
        drawn[tuple(map(tuple, some))] = None
    return [_named(counts, some) for some in drawn]


def _named(layers: Collection[int], heads: Sequence[Sequence[int]]) -> list[Head]:
    return [(layer, head) for layer, some in zip(layers, heads, strict=True) for head in some]


@dataclass(frozen=True, eq=False)
class Team:
    """Heads in the order in which they were found, and the answer as each is off with those before.

    off: (layer, head); before: the answer of the whole model; after: (heads,); elsewhere, error:
    by how many nats a token other texts cost more without the team, mean and standard error, None
    where none were given; chance: the answers without as many other heads of the same layers,
    (teams,), see `other_teams`; to: the way, see `effects.way_of`.
    """

    off: tuple[Head, ...]
    before: float
    after: Tensor
    elsewhere: float | None
    error: float | None
    chance: Tensor
    to: str


@torch.no_grad()
def team(
    model: nn.Module | Model,
    inputs: Any,
    answer: Answer,
    *,
    most: int = 3,
    to: Any = None,
    elsewhere: Sequence[Any] = (),
    draws: int = DRAWS,
    seed: int = 0,
    tokenizer: Any = None,
) -> Team:
    """The heads whose loss lowers an answer most, one after the other by greedy search.

    Each step tries every head beside those found, in batches; it ends after `most`, or where none
    lowers the answer. inputs, answer, to: see `effects`; elsewhere: inputs of other texts, at least
    two, whose next tokens' loss is measured; draws: of other teams. Raises ValueError as `effects`.
    """
    must_be("most", most, int)
    must_be("draws", draws, int)
    if len(elsewhere) == 1:
        raise ValueError("elsewhere must be two inputs or more, for a standard error, got 1")
    inputs, *elsewhere = (read(model, each, tokenizer) for each in (inputs, *elsewhere))
    asked = experiment(model, inputs, answer, tokenizer)
    way, to = way_of(to), replacement(model, inputs, to)
    found = [*greedily(most, lambda found: next_head(asked, [one.head for one in found], to))]
    off = [one.head for one in found]
    others = [changes(each, to) for each in other_teams(off, asked.counts, draws, seed)]
    costs = torch.zeros(len(elsewhere))
    if off and len(elsewhere):
        costs = losses_after(model, elsewhere, [changes(off, to)])[:, 0].cpu()
    return Team(
        tuple(off),
        float(asked.before),
        torch.tensor([one.metric for one in found]),
        float(costs.mean()) if len(costs) else None,
        float(costs.std() / len(costs) ** 0.5) if len(costs) else None,
        asked.after(others).cpu() if off and others else torch.empty(0),
        way,
    )
