"""Means over texts, with their 95 % intervals."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

import torch
from scipy.special import stdtrit
from torch import Tensor

from attention.atlas.passport import Mean

WITHIN = 0.95  # of what is drawn, between the ends of an interval
DEVIATIONS = 1.96  # of a normal distribution, between which as much of it lies


def mean_of(values: Sequence[float]) -> Mean:
    """The mean of one number a text, with the interval of Student's t; of one text alone without a
    width.

    Raises ValueError where there is no text.
    """
    if not values:
        raise ValueError("a mean needs at least one text, got none")
    count = len(values)
    mean = math.fsum(values) / count
    squares = math.fsum((value - mean) ** 2 for value in values)
    width = student(count - 1) * math.sqrt(squares / (count - 1) / count) if count > 1 else 0.0
    return Mean(mean, mean - width, mean + width, count)


@functools.cache
def student(freedom: int) -> float:
    """Standard errors between which 95 % of a mean of so many degrees of freedom lie (Student
    1908): 2.57 for 5, 1.98 for 100."""
    return float(stdtrit(freedom, (1 + WITHIN) / 2))


def share_of(count: int, of: int) -> Mean:
    """A share of texts, with the interval of its score (Wilson 1927). Raises ValueError where there
    is no text, or more are counted than there are."""
    if not 0 <= count <= of or of == 0:
        raise ValueError(f"a share must be of at least one text, got {count} of {of}")
    share, squared = count / of, DEVIATIONS**2
    middle = (share + squared / (2 * of)) / (1 + squared / of)
    spread = math.sqrt(share * (1 - share) / of + squared / (4 * of * of))
    width = DEVIATIONS * spread / (1 + squared / of)
    # of none or all one end is the share itself, but for rounding
    low, high = max(0.0, middle - width), min(1.0, middle + width)
    return Mean(share, min(share, low), max(share, high), of)


def clear_of(mean: Mean, other: float) -> int:
    """The side of a number that an interval lies on: 1 above, -1 below, 0 where it holds it, and of
    one text alone."""
    if mean.count < 2:
        return 0
    return (mean.low > other) - (mean.high < other)


def middle_of(drawn: Tensor) -> tuple[float, float]:
    """The 2.5th and the 97.5th percentile of some numbers, (many,): 95 % of them lie between."""
    low, high = drawn.double().quantile(torch.tensor([0.025, 0.975], dtype=torch.float64)).tolist()
    return low, high
