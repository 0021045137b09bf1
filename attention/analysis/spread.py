"""Why scores are divided by √d_k: what becomes of random ones as d_k grows."""

from __future__ import annotations

from dataclasses import dataclass

import torch

WIDTHS = (1, 2, 4, 8, 16, 32, 64, 128)
KEYS, ROWS = 8, 2000


@dataclass(frozen=True)
class Spread:
    """For each d_k of `widths`, raw and divided by √d_k (Vaswani et al. 2017, section 3.2.1).

    spread: the standard deviation of the scores; greatest: the greatest of `KEYS` shares after
    the softmax, on average over the rows; each (widths,) by name; rows: how many queries.
    """

    widths: tuple[int, ...]
    spread: dict[str, list[float]]
    greatest: dict[str, list[float]]
    rows: int

    @property
    def words(self) -> str:
        """Describe what is drawn of it, in a few sentences."""
        return (
            f"{self.rows:,} random queries with {KEYS} random keys each, for each d_k. Left: the "
            f"standard deviation of the scores. Right: the greatest of {KEYS} shares after the "
            "softmax, on average."
        )


def spread_of_scores() -> Spread:
    """Scores of random queries and keys, their entries normal with mean 0 and variance 1."""
    generator = torch.Generator().manual_seed(0)
    spread: dict[str, list[float]] = {"raw": [], "divided by √d_k": []}
    greatest: dict[str, list[float]] = {name: [] for name in spread}
    for width in WIDTHS:
        queries = torch.randn(ROWS, 1, width, generator=generator)
        keys = torch.randn(ROWS, width, KEYS, generator=generator)
        scores = (queries @ keys)[:, 0]
        for name, divisor in zip(spread, (1.0, width**0.5), strict=True):
            scaled = scores / divisor
            spread[name].append(float(scaled.std()))
            greatest[name].append(float(scaled.softmax(-1).amax(-1).mean()))
    return Spread(WIDTHS, spread, greatest, ROWS)
