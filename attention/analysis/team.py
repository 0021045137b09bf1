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
from dataclasses import replace
from typing import NamedTuple

import torch
from torch import Tensor

from attention.analysis.causes import Metric
from attention.analysis.interventions import Progress, changed_runs, hidden
from attention.analysis.losses_on_corpus import losses_after
from attention.analysis.switches import Head, Replacement, changes
from attention.trained.layers import LayerRun
from attention.trained.models import Model, Run

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


@torch.no_grad()
def run_without(model: Model, run: Run, off: Collection[Head], replacement: Replacement) -> Run:
    """A run with heads switched off, to be changed further: heads of later layers begin there."""
    if not off:
        return run
    inputs = [*run.inputs]
    last: LayerRun | None = None
    for layer, last in changed_runs(model, run, [changes(off, replacement)]):
        before = inputs[layer]
        memory = None if before.memory is None else last.memory
        inputs[layer] = replace(before, entered=last.entered, x=last.x, memory=memory)
    assert last is not None
    return Run(run.pieces, tuple(inputs), model.final(last.output))


@torch.no_grad()
def metrics_beside(
    model: Model,
    run: Run,
    metric: Metric,
    replacement: Replacement,
    off: Collection[Head],
    heads: Sequence[Head],
    progress: Progress | None = None,
) -> tuple[float, Tensor]:
    """The metric with heads off, and as each of some heads is switched off too. (heads,)."""
    begun = run_without(model, run, off, replacement)
    order = sorted(range(len(heads)), key=lambda at: heads[at])
    several = [
        changes({heads[at], *(head for head in off if head[0] >= heads[at][0])}, replacement)
        for at in order
    ]
    found = hidden(model, begun, several, metric=metric, progress=progress)
    after = torch.empty_like(found)
    after[order] = found
    return float(metric(begun.hidden)), after


def estimated_effects(
    model: Model, run: Run, metric: Metric, replacement: Replacement, off: Collection[Head] = ()
) -> Tensor:
    """An estimate of by how much the metric changes as each head is switched off beside others.

    (layers, heads). To first order: the gradient of the metric by a head's output, times the step
    from that output to its replacement (attribution patching, Nanda 2023; Syed et al. 2023,
    arXiv 2310.10348, eq. 1). One run forward and one backward; where the metric is flat it says 0.
    """
    there = {change.layer: change for change in (changes(off, replacement) if off else ())}
    nudges, steps = [], []

    def edit(layer: int, layer_run: LayerRun) -> LayerRun:
        output = layer_run.trace.output
        if layer in there:
            output = output.clone()
            there[layer].apply(output)
        target = output.detach().clone()
        replacement(layer, range(target.shape[-3])).apply(target)
        nudge = torch.zeros_like(target, requires_grad=True)
        nudges.append(nudge)
        steps.append(target - output.detach())
        return layer_run.edited(trace=replace(layer_run.trace, output=output + nudge))

    with torch.enable_grad():
        number = metric(model.hidden(run.batch, edit=edit))
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
    model: Model,
    run: Run,
    metric: Metric,
    replacement: Replacement,
    effects: Tensor,
    off: Collection[Head] = (),
    *,
    sign: int = 1,
    every: bool = False,
    progress: Progress | None = None,
) -> Found | None:
    """The head whose loss costs most beside those that are off, None where none costs anything.

    effects: of each head alone, (layers, heads), which name the first one without a run; sign: 1
    where a lower metric is a loss; every: try all heads, not the `candidates` alone.
    """
    heads = [divmod(at, effects.shape[1]) for at in range(effects.numel())]
    if not off:
        alone = costliest(heads, effects.flatten(), 0.0, sign)
        return alone and alone._replace(metric=float(metric(run.hidden)) + alone.metric)
    if every:
        tried = [head for head in heads if head not in off]
    else:
        estimates = estimated_effects(model, run, metric, replacement, off)
        tried = candidates(effects, estimates, off, sign)
    if not tried:
        return None
    before, after = metrics_beside(model, run, metric, replacement, off, tried, progress)
    return costliest(tried, after, before, sign)


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


@torch.no_grad()
def by_chance(
    model: Model,
    run: Run,
    metric: Metric,
    replacement: Replacement,
    teams: Sequence[Collection[Head]],
    progress: Progress | None = None,
) -> Tensor:
    """The metric without each of some teams. (teams,). See `other_teams`."""
    several = [changes(team, replacement) for team in teams]
    return hidden(model, run, several, metric=metric, progress=progress)


def cost_elsewhere(
    model: Model,
    texts: Sequence[str],
    replacement: Replacement,
    team: Collection[Head],
    progress: Progress | None = None,
) -> Tensor:
    """By how much the loss on each sentence grows without a team, see `losses_after`. (texts,)."""
    return losses_after(model, texts, [changes(team, replacement)], progress)[:, 0]
