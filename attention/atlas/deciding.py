"""The head that is shown for an answer, of all that were switched off one by one."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from attention.analysis.glances import rows_of_each
from attention.atlas.claims import AS_COSTLY, DECIDES, MOVES
from attention.changing.change import Head
from attention.trained.models import Run


@dataclass(frozen=True)
class Deciding:
    """The head that is shown for an answer.

    costs: by how much the answer's metric gets worse without it, and without each that costs about
    as much, the most costly first; decides: if one of them decides the answer.
    """

    head: Head
    costs: tuple[tuple[Head, float], ...]
    decides: bool


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
