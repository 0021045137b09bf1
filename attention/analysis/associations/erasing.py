"""Erasure, the yardstick: the sentence without each token."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch.nn.functional import cosine_similarity

from attention.analysis.associations.followed import Followed
from attention.analysis.associations.method import ABNAR, Method, Step, register
from attention.analysis.associations.two_words import ROW, WORDS, Row, distances
from attention.changing.change import Token
from attention.changing.erasing import mask_of
from attention.changing.known import MAX_PIECES_AT_ONCE, changed_runs
from attention.core.matrix import Matrix
from attention.trained.layers import LayerRun
from attention.trained.models import Model

TOGETHER = 8  # tokens that are erased at once where none before them is worked out again


@register
class Erasing(Method):
    """The sentence without each token: the yardstick."""

    name = "erasure"
    title = "Erasure"
    source = ABNAR
    definition = (
        "Token j replaced by the mask token, or, where the model has none, hidden from all "
        "other tokens as a key of every layer: the cosine distance of output i from what it "
        "was; with two words, how far the difference of their scores moves. What a token that "
        "is hidden does to itself is not a number."
    )
    slow = True

    def number(self, followed: Followed) -> Tensor:
        effects = erased(followed, ways_of(followed.model)[0])
        if followed.words is not None:
            effects.states[-1] = effects.drops.abs()
        return effects.states

    def steps(self, case: Followed) -> list[Step]:
        mask = mask_of(case.model)
        assert mask is not None
        changed = [
            [*changed_runs(case.model, case.run, [[Token(key, mask)]])][-1][1].output[ROW]
            for key in range(2)
        ]
        names = ["as it is", *(f"{word} hidden" for word in WORDS)]
        parts: Row = [
            *distances("“cat” after layer 2", [case.hidden[ROW], *changed], names),
            "row “cat” →",
            Matrix("erasure", self(case)[1][ROW][None], ["cat"], WORDS, "share"),
        ]
        words = (
            "The model runs again with a word hidden: here all numbers of the mask token are 0. "
            "The distance of “cat” from what it was is the number itself."
        )
        return [Step(words, parts)]


@dataclass(frozen=True, eq=False)
class Erasure:
    """Effects on each token when another is erased.

    states (layers, tokens, erased tokens): the cosine distance of a token's output after each layer
    from what it was; drops (tokens, erased tokens): by how much its target falls, see
    `Followed.directions`. Where a token is gone itself there is no number.
    """

    states: Tensor
    drops: Tensor


def erased(followed: Followed, way: str) -> Erasure:
    """Erase each token of a sentence, in one of `WAYS`.

    Raises ValueError where there is no such way, or the model has no mask token to put in.
    """
    if way not in WAYS or (way == MASKED and mask_of(followed.model) is None):
        offered = ", ".join(ways_of(followed.model))
        raise ValueError(f"tokens are erased in one of these ways: {offered}; got {way!r}")
    n_tokens, n_layers = len(followed.positions), len(followed.layers)
    states = torch.full((n_layers, n_tokens, n_tokens), torch.nan)
    drops = torch.full((n_tokens, n_tokens), torch.nan)
    for part in WAYS[way](followed):
        columns, rows = torch.tensor(part.positions)[:, None], part.rows
        states[:, : part.first, part.positions] = 0.0  # who sees nothing of it
        drops[: part.first, part.positions] = 0.0
        for layer, outputs in part.outputs.items():
            was, now = followed.runs[layer].output, outputs
            if layer == n_layers - 1:
                was, now = followed.final(was), followed.final(now)
            was, now = was[rows].double(), now.double()
            moved = 1 - cosine_similarity(now, was, dim=-1)
            states[layer, rows, columns] = moved.clamp_min(0).float()
        fell = ((was - now) * followed.directions[rows].double()).sum(-1)
        drops[rows, columns] = fell.float()
    if way == HIDDEN:
        states.diagonal(0, 1, 2).fill_(torch.nan)
        drops.fill_diagonal_(torch.nan)
    return Erasure(followed.seen(states), followed.seen(drops))


@dataclass(frozen=True, eq=False)
class Erased:
    """Runs of a sentence, each with the token at one of `positions` erased.

    rows (positions, tokens): where the tokens of the outputs stand in the whole sentence; first:
    before which position no token sees any of them; outputs: of each layer (positions, tokens,
    d_model).
    """

    positions: list[int]
    rows: Tensor
    first: int
    outputs: dict[int, Tensor]


def _masked(followed: Followed) -> Iterator[Erased]:
    """The mask token in the place of each token."""
    mask, first = mask_of(followed.model), 0
    assert mask is not None
    several = [[Token(position, mask)] for position in followed.positions]
    everything = torch.arange(len(several))
    for outputs in followed.changed(several):
        count = len(outputs[0])
        positions = [*range(first, first + count)]
        yield Erased(positions, everything.expand(count, -1), 0, outputs)
        first += count


def _some(followed: Followed) -> Iterator[tuple[list[int], int]]:
    """Positions that are erased together, and from which one on the model runs again."""
    n_tokens = len(followed.positions)
    at_once = max(1, MAX_PIECES_AT_ONCE // n_tokens)
    if followed.causal:
        at_once = min(at_once, TOGETHER)
    for first in range(0, n_tokens, at_once):
        followed.progress(first, n_tokens)
        positions = [*range(first, min(first + at_once, n_tokens))]
        yield positions, first if followed.causal else 0


def _left_out(followed: Followed) -> Iterator[Erased]:
    """The sentence without each token: those behind it move up."""
    everything = torch.arange(len(followed.positions))
    for positions, begin in _some(followed):
        rest = everything[begin:].expand(len(positions), -1)
        rows = rest[rest != torch.tensor(positions)[:, None]].view(len(positions), -1)
        if rows.numel():
            yield Erased(positions, rows, begin, followed.rest_of(rows, begin))


def _hidden(followed: Followed) -> Iterator[Erased]:
    """No other token sees the erased one as a key, in any layer: all positions stay."""
    everything = torch.arange(len(followed.positions))
    for positions, begin in _some(followed):
        rows = everything[begin:].expand(len(positions), -1)
        shown = torch.ones(len(positions), 1, rows.shape[1], len(everything), dtype=torch.bool)
        for index, position in enumerate(positions):
            shown[index, :, :, position] = False
            shown[index, :, position - begin, position] = True

        def hide(_: int, run: LayerRun, shown: Tensor = shown) -> LayerRun:
            mask = run.trace.mask
            return run.edited(
                trace=replace(run.trace, mask=shown if mask is None else mask & shown)
            )

        yield Erased(positions, rows, begin, followed.rest_of(rows, begin, hide))


MASKED, HIDDEN, LEFT_OUT = "masked", "hidden", "left out"
# how a token can be erased; the last way alone moves positions
WAYS = {MASKED: _masked, HIDDEN: _hidden, LEFT_OUT: _left_out}


def ways_of(model: Model) -> list[str]:
    """Select the `WAYS` that a model has what they need for; the first one is `erasure`'s."""
    return [way for way in WAYS if way != MASKED or mask_of(model) is not None]
