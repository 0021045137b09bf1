"""Means over sentences with intervals, paired differences, and what is chosen on one half."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

import numpy as np

from attention.analysis.study import Difference, Figure

SAMPLES = 10_000  # of the sentences, with replacement
NOISE = 1e-9  # of floats: a smaller difference is none
Each = TypeVar("Each")


class Sums(NamedTuple):
    """Of each sentence the sum over its rows, times their weights, and the sum of the weights.

    above, below (sentences, names…).
    """

    above: np.ndarray
    below: np.ndarray


class Sampled(NamedTuple):
    """Means over sentences (names…), and over samples of them (samples, names…)."""

    whole: np.ndarray
    samples: np.ndarray


def halves(each: Sequence[Each]) -> tuple[Sequence[Each], Sequence[Each]]:
    """The even ones, to choose on, and the odd ones, to confirm on."""
    return each[::2], each[1::2]


def sums_of(rows: Iterable[tuple[np.ndarray, np.ndarray]]) -> Sums:
    """Sum the rows of each sentence, weighted by their keys; a row that is nan counts for nothing.

    Of each sentence (names…, rows) and (rows,).
    """
    above, below = [], []
    for rhos, counts in rows:
        known = np.isfinite(rhos)
        above.append((np.where(known, rhos, 0.0) * counts).sum(-1))
        below.append((known * counts).sum(-1))
    return Sums(np.stack(above), np.stack(below))


def mean_of(sums: Sums) -> np.ndarray:
    """Σ above / Σ below over the sentences. (names…)."""
    with np.errstate(invalid="ignore", divide="ignore"):
        found: np.ndarray = sums.above.sum(0) / sums.below.sum(0)
    return found


def sampled(sums: Sums) -> Sampled:
    """The means, and those of samples of the sentences (Efron 1979), the same for all names."""
    generator, count = np.random.default_rng(0), len(sums.above)
    drawn = generator.multinomial(count, np.full(count, 1 / count), SAMPLES)
    with np.errstate(invalid="ignore", divide="ignore"):
        samples = np.tensordot(drawn, sums.above, 1) / np.tensordot(drawn, sums.below, 1)
    return Sampled(mean_of(sums), samples)


def figure(whole: float | np.ndarray, samples: np.ndarray) -> Figure:
    """A mean with the interval that holds 95 % of the samples."""
    low, high = np.quantile(samples, [0.025, 0.975])
    return Figure(float(whole), float(low), float(high))


def p_of(samples: np.ndarray) -> float:
    """p of no difference, two-sided: twice the share of samples on the rarer side of 0, at most 1.

    One sample is added, so that p is never 0 (Davison & Hinkley 1997, section 4.2).
    """
    rarer = min(int((samples <= NOISE).sum()), int((samples >= -NOISE).sum()))
    return min(1.0, 2 * (rarer + 1) / (len(samples) + 1))


def holm(ps: Mapping[str, float]) -> dict[str, float]:
    """p of each of several differences, corrected for their number (Holm 1979).

    The smallest of m times m, the next times m - 1, …, none below one before it, at most 1.
    """
    found, least = {}, 0.0
    for at, name in enumerate(sorted(ps, key=ps.__getitem__)):
        least = max(least, min(1.0, (len(ps) - at) * ps[name]))
        found[name] = least
    return {name: found[name] for name in ps}


def differences(
    found: Mapping[str, Sampled], beside: Sampled, *, at_least: float = -np.inf
) -> dict[str, Difference]:
    """Leads over another one in the same samples, or over a number if that is more.

    found, beside: of one name each, whole (), samples (samples,).
    """
    apart = {
        name: (
            float(one.whole - max(at_least, beside.whole)),
            one.samples - np.maximum(at_least, beside.samples),
        )
        for name, one in found.items()
    }
    ps = holm({name: p_of(samples) for name, (_, samples) in apart.items()})
    return {
        name: Difference(*figure(whole, samples), ps[name])
        for name, (whole, samples) in apart.items()
    }
