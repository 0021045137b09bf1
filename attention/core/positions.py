"""Positions: added to the vectors, rotated into queries and keys, or added to the scores."""

from __future__ import annotations

import torch
from torch import Tensor


def sinusoidal(n_tokens: int, d_model: int) -> Tensor:
    """Sines and cosines of the position (Vaswani et al. 2017, section 3.5).

    Dimension 2i holds sin(pos / 10000^(2i/d_model)), dimension 2i+1 the cosine of the same.
    Returns (tokens, d_model), within [-1, 1]; an odd d_model ends on a sine.
    """
    positions = torch.arange(n_tokens, dtype=torch.float64)[:, None]
    even = torch.arange(0, d_model, 2, dtype=torch.float64)
    angles = positions / 10000 ** (even / d_model)
    both = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)
    return both[:, :d_model].float()


def rotary(vectors: Tensor) -> Tensor:
    """Queries or keys rotated by their position (Su et al. 2021, section 3.4.2, eq. 34).

    vectors: (…, tokens, d_k). Dimensions 2i and 2i+1 are rotated as a pair, at position p by
    p / 10000^(2i/d_k); the last of an odd d_k stays. Lengths stay, and the product of a query and
    a key depends on how far apart they are, not on where.
    """
    n_tokens, d_k = vectors.shape[-2:]
    whole = d_k // 2 * 2
    cosines, sines = rotations(n_tokens, d_k).to(vectors.dtype).unbind(-1)
    first, second = vectors[..., 0:whole:2], vectors[..., 1:whole:2]
    rotated = torch.stack(
        [first * cosines - second * sines, first * sines + second * cosines], dim=-1
    )
    return torch.cat([rotated.flatten(-2), vectors[..., whole:]], dim=-1)


def rotations(n_tokens: int, d_k: int) -> Tensor:
    """Cosine and sine by which `rotary` rotates each pair of dimensions. (tokens, d_k // 2, 2)."""
    positions = torch.arange(n_tokens, dtype=torch.float64)[:, None]
    even = torch.arange(0, d_k // 2 * 2, 2, dtype=torch.float64)
    angles = positions / 10000 ** (even / d_k)
    return torch.stack([angles.cos(), angles.sin()], dim=-1).float()


def slopes(heads: int) -> Tensor:
    """The slope of each head for `alibi` (Press et al. 2022, section 3). (heads,).

    2^(-8/heads), 2^(-16/heads), … for a power of 2; for other numbers, as in the authors' code,
    the slopes of the power below, then every other one of the power above.
    """
    below = 2 ** (heads.bit_length() - 1)
    exponents = [8 * (head + 1) / below for head in range(below)]
    exponents += [8 * (head + 1) / (2 * below) for head in range(0, 2 * below, 2)]
    return torch.tensor([2.0**-exponent for exponent in exponents[:heads]])


def alibi(
    heads: int,
    n_queries: int,
    n_keys: int,
    rows: slice = slice(None),
    some: slice = slice(None),
) -> Tensor:
    """What to add to the scaled scores: minus slope times distance. (heads, queries, keys).

    Press et al. 2022, section 3; there keys only precede queries, here distance counts both ways.
    rows, some: the queries and the heads that it is wanted for.
    """
    distance = (torch.arange(n_queries)[rows, None] - torch.arange(n_keys)).abs()
    return -slopes(heads)[some, None, None] * distance
