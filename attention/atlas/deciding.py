"""The head that is shown for an answer, of all that were switched off one by one, and its tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

import torch
from torch import Tensor

from attention.analysis.glances import rows_of_each
from attention.atlas.claims import AS_COSTLY, DECIDES, MOVES, SURVIVES
from attention.changing.change import CORPUS, TEXT, ZERO, Change, Head
from attention.changing.known import Known
from attention.trained.models import Run

OTHERS = "others"  # as in other sentences
TESTED = (CORPUS, ZERO, OTHERS)


@dataclass(frozen=True)
class Deciding:
    """The head that is shown for an answer.

    costs: by how much the answer's metric gets worse without it, and without each that costs about
    as much, the most costly first; decides: if one of them decides the answer by the way tested;
    tests: of each that was tested in several ways those by which it does not, see `failed`.
    """

    head: Head
    costs: tuple[tuple[Head, float], ...]
    decides: bool
    tests: tuple[tuple[Head, tuple[str, ...]], ...] = ()

    @property
    def fails(self) -> tuple[str, ...] | None:
        """The tests that the first of `costs` does not survive, None where it was not tested."""
        return dict(self.tests).get(self.costs[0][0])


def deciding(changes: Tensor, before: float, sign: int, looks: Tensor) -> Deciding | None:
    """The head to show for an answer, None until all are tried.

    Of those that cost about as much as the most costly one, the one that looks most at a word other
    than the first and itself. A head decides an answer that falls to half of what it was or less
    without it, or that another word leads then; a vector where it moves it far.

    changes (layers, heads, 2): of the answer's metric, and beside it of `answers.beside_likeliest`;
    before: the answer; sign: 1 where a lower metric is a loss, -1 where a higher one is; looks
    (layers, heads): see `looks_at_words`.
    """
    metric, likeliest = changes.double().flatten(0, 1).unbind(-1)
    if not bool(metric.isfinite().all()):
        return None
    costs = -sign * metric
    if sign > 0:
        decide = (before + metric <= DECIDES * before) | (likeliest > metric)
    else:
        decide = costs >= MOVES
    near = _near(costs, torch.ones_like(decide))
    if decide.any() and not (decide & near).any():
        near = _near(costs, decide)
    order = costs.argsort(descending=True, stable=True)
    among = [at for at in order.tolist() if near[at]]
    shown = max(among, key=lambda at: float(looks.flatten()[at]))
    heads = changes.shape[1]
    named = tuple((divmod(at, heads), float(costs[at])) for at in among)
    return Deciding(divmod(shown, heads), named, bool((decide & near).any()))


def _near(costs: Tensor, among: Tensor) -> Tensor:
    """The heads that cost about as much as the most costly of some. bool (heads,)."""
    most = costs[among].max()
    return among & (costs >= AS_COSTLY * most if most > 0 else costs == most)


def looks_at_words(run: Run, position: int) -> Tensor:
    """The greatest weight of each head on a word other than the first, markers and the one that
    asks, from a position of the answer. (layers, heads).

    0 for an encoder's heads behind which a decoder writes: the answer does not stand there.
    """
    last, found = run.inputs[-1], []
    at = position % len(last.pieces.ids)
    for one, row in zip(run.inputs, rows_of_each(run, at, at), strict=True):
        pieces = one.memory_pieces or one.pieces
        special = torch.tensor(pieces.special)
        if not special.any():
            special[0] = one.memory is None
        if one.memory is None:
            special[at] = True
        elsewhere = last.layer.crosses and not one.layer.crosses
        found.append(row.masked_fill(special, 0).amax(-1) * (not elsewhere))
    return torch.stack(found)


def in_each_way(
    asked: Known, head: Head, means: Sequence[Tensor], others: Tensor
) -> dict[str, float]:
    """Switch a head off in each of several ways, and give the answers.

    "corpus", "zero" and "text": see `change.Change`, means: over packaged sentences; "others": at
    the last token as in other sentences, whose outputs there are others (sentences, d_v): the
    median of the answers. A text of one token has no mean.
    """
    layer, heads = head[0], [head[1]]
    ways = {CORPUS: means, ZERO: ZERO, TEXT: TEXT}
    if len(asked.run.pieces.ids) == 1:
        del ways[TEXT]
    runs = [Change(layer, to=to, heads=heads) for to in ways.values()]
    runs += [Change(layer, to=output, heads=heads, positions=[-1]) for output in others]
    after = asked.after([[run] for run in runs])
    found = dict(zip(ways, after.tolist(), strict=False))
    return {**found, OTHERS: median(after[len(ways) :].tolist())}


def failed(before: float, after: Mapping[str, float]) -> tuple[str, ...]:
    """The ways of `TESTED` by which an answer does not fall by `SURVIVES`."""
    return tuple(way for way in TESTED if before - after[way] < SURVIVES)


def surviving(found: Deciding, fails: Mapping[Head, tuple[str, ...]], looks: Tensor) -> Deciding:
    """Keep to the heads that survive every test, where some do. fails: those of each head."""
    costs = tuple(each for each in found.costs if not fails[each[0]])
    if not costs:
        return replace(found, tests=(*fails.items(),))
    head = max((head for head, _ in costs), key=lambda head: float(looks[head]))
    return Deciding(head, costs, True, (*fails.items(),))
