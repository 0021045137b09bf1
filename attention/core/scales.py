"""Factors of the scores before the softmax, by name in `SCALES`."""

from __future__ import annotations

import math
from collections.abc import Callable

Scale = float | Callable[[int, int], float]


def root_of_d_k(d_k: int, d_v: int) -> float:
    """`1/√d_k`, d_k: the width of queries and keys (Vaswani et al. 2017, eq. 1)."""
    return 1 / math.sqrt(d_k)


def root_of_both(d_k: int, d_v: int) -> float:
    """`1/√(d_k·d_v)`, with the width of the values too."""
    return 1 / math.sqrt(d_k * d_v)


SCALES: dict[str, Scale] = {
    "1/√d_k": root_of_d_k,
    "1/√(d_k·d_v)": root_of_both,
    "none": 1.0,
}
