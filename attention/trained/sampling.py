"""Scores of the next piece -> probabilities -> a piece, every step in sight."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass

import torch
from torch import Tensor

from attention.trained.models import Run, Transformer

ROUNDING = 1e-9  # of a sum of probabilities, far below any that counts


@torch.no_grad()
def next_scores(model: Transformer, run: Run) -> Tensor:
    """Logits of the piece after the last one over the vocabulary (Radford et al. 2018, eq. 2).

    Returns (vocabulary,). Raises ValueError for models that were not trained to go on.
    """
    return model.scores(run.hidden[-1])


@dataclass(frozen=True, eq=False)
class Filter:
    """One step on the way from scores to probabilities.

    name: as in `Narrowing`; scores (vocabulary,): what is left, -inf where a piece is out;
    removed: the ids of the pieces that this step took out, ascending.
    """

    name: str
    scores: Tensor
    removed: Tensor


@dataclass(frozen=True, eq=False)
class Narrowing:
    """The way from scores to probabilities.

    scores (vocabulary,): as the model gives them; temperature, top_k, top_p: what each makes of
    the one before; probabilities (vocabulary,): the softmax of what is left, 0 for what is out.
    """

    scores: Tensor
    temperature: Filter
    top_k: Filter
    top_p: Filter
    probabilities: Tensor

    @property
    def steps(self) -> tuple[Filter, ...]:
        """The filters, in the order in which they work."""
        return self.temperature, self.top_k, self.top_p


def narrow(
    scores: Tensor, temperature: float = 1.0, top_k: int = 0, top_p: float = 1.0
) -> Narrowing:
    """Scores of the next piece (vocabulary,) through all filters; the defaults change nothing.

    Raises ValueError unless temperature > 0, top_k >= 0 and top_p lies in (0, 1].
    """
    warm = divide_by_temperature(scores, temperature)
    few = keep_top_k(warm.scores, top_k)
    likely = keep_top_p(few.scores, top_p)
    return Narrowing(scores, warm, few, likely, likely.scores.softmax(-1))


def divide_by_temperature(scores: Tensor, temperature: float) -> Filter:
    """Scores / temperature: above 1 evens out, below 1 sharpens (Ackley et al. 1985).

    scores (vocabulary,). Raises ValueError unless temperature > 0, and large enough for the scores.
    """
    if not 0 < temperature < math.inf:
        raise ValueError(f"temperature must be greater than 0, got {temperature}")
    divided = scores / temperature
    if (divided.isinf() & scores.isfinite()).any():
        raise ValueError(f"temperature must not be so close to 0 for these scores: {temperature}")
    return _filter("temperature", scores, divided)


def keep_top_k(scores: Tensor, k: int) -> Filter:
    """The k highest scores, and what ties with the last of them (Fan et al. 2018).

    scores (vocabulary,); k = 0 keeps all. Raises ValueError unless k >= 0.
    """
    if k < 0:
        raise ValueError(f"top_k must be at least 0, got {k}")
    if not k:
        return _filter("top_k", scores, scores)
    lowest = scores.topk(min(k, len(scores))).values[-1]
    return _filter("top_k", scores, scores.masked_fill(scores < lowest, -math.inf))


def keep_top_p(scores: Tensor, p: float) -> Filter:
    """The fewest pieces whose probabilities reach p together (Holtzman et al. 2020, section 3.1).

    scores (vocabulary,); p = 1 keeps all; the likeliest is always kept. Raises ValueError unless
    p lies in (0, 1].
    """
    if not 0 < p <= 1:
        raise ValueError(f"top_p must lie in (0, 1], got {p}")
    if p == 1:
        return _filter("top_p", scores, scores)
    ascending, order = scores.sort(stable=True)
    out = ascending.double().softmax(-1).cumsum(-1) <= 1 - p + ROUNDING
    out[-1] = False
    removed = torch.zeros_like(out).scatter(0, order, out)
    return _filter("top_p", scores, scores.masked_fill(removed, -math.inf))


def greedy(probabilities: Tensor) -> int:
    """The likeliest piece, the first one where several are. probabilities: (vocabulary,)."""
    return int(probabilities.argmax())


def sample(probabilities: Tensor, seed: int, position: int = 0) -> int:
    """A piece drawn with these probabilities, (vocabulary,).

    The same for the same seed and position on every machine; position: how many pieces there are,
    so that each step draws anew. Raises ValueError where no piece is possible.
    """
    sums = probabilities.to(torch.float64).cumsum(0)
    if not 0 < sums[-1] < math.inf:
        raise ValueError(f"probabilities must sum to more than 0, got {float(sums[-1])}")
    drawn = sums[-1] * _uniform(seed, position)
    return int(torch.searchsorted(sums, drawn, right=True).clamp_max(probabilities.nonzero()[-1]))


def _uniform(seed: int, position: int) -> float:
    """A number in [0, 1) that follows from two others, by steps that are exact everywhere."""
    digest = hashlib.blake2b(f"{seed} {position}".encode(), digest_size=8).digest()
    return (int.from_bytes(digest) >> 11) / 2**53


def _filter(name: str, before: Tensor, after: Tensor) -> Filter:
    removed = before.isfinite() & ~after.isfinite()
    return Filter(name, after, removed.nonzero().squeeze(-1))
