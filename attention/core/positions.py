"""Positions: added to the vectors, rotated into queries and keys, or added to the scores.

Angles are worked out in float64 on the CPU, so that they are the same on every device, also on
those without float64; what comes of them is made in the dtype and on the device that is asked for.
"""

from __future__ import annotations

import torch
from torch import Tensor


def sinusoidal(
    n_tokens: int,
    d_model: int,
    *,
    dtype: torch.dtype = torch.float32,
    device: torch.device | str | None = None,
) -> Tensor:
    """Sines and cosines of the position (Vaswani et al. 2017, section 3.5).

    Dimension 2i holds sin(pos / 10000^(2i/d_model)), dimension 2i+1 the cosine of the same.
    Returns (tokens, d_model), within [-1, 1]; an odd d_model ends on a sine.
    """
    angles = _angles(n_tokens, d_model, d_model)
    both = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)
    return both[:, :d_model].to(device, dtype)


def rotary(vectors: Tensor) -> Tensor:
    """Queries or keys rotated by their position (Su et al. 2021, section 3.2.2, eq. 34).

    vectors: (…, tokens, d_k). Dimensions 2i and 2i+1 are rotated as a pair, at position p by
    p / 10000^(2i/d_k); the last of an odd d_k stays. Lengths stay, and the product of a query and
    a key depends on how far apart they are, not on where.
    """
    n_tokens, d_k = vectors.shape[-2:]
    whole = d_k // 2 * 2
    cosines, sines = rotations(n_tokens, d_k).to(vectors).unbind(-1)
    first, second = vectors[..., 0:whole:2], vectors[..., 1:whole:2]
    rotated = torch.stack(
        [first * cosines - second * sines, first * sines + second * cosines], dim=-1
    )
    return torch.cat([rotated.flatten(-2), vectors[..., whole:]], dim=-1)


def rotations(n_tokens: int, d_k: int) -> Tensor:
    """Cosine and sine by which `rotary` rotates each pair of dimensions.

    Returns (tokens, d_k // 2, 2) in float64, on the CPU.
    """
    angles = _angles(n_tokens, d_k // 2 * 2, d_k)
    return torch.stack([angles.cos(), angles.sin()], dim=-1)


def _angles(n_tokens: int, dimensions: int, width: int) -> Tensor:
    """`pos / 10000^(2i/width)` for each even dimension 2i. (tokens, ⌈dimensions / 2⌉), float64."""
    positions = torch.arange(n_tokens, dtype=torch.float64, device="cpu")[:, None]
    even = torch.arange(0, dimensions, 2, dtype=torch.float64, device="cpu")
    return positions / 10000 ** (even / width)


def slopes(
    heads: int, *, dtype: torch.dtype = torch.float32, device: torch.device | str | None = None
) -> Tensor:
    """The slope of each head for `alibi` (Press et al. 2022, section 3). (heads,).

    2^(-8/heads), 2^(-16/heads), … for a power of 2; for other numbers, as in the authors' code,
    the slopes of the power below, then every other one of the power above.
    """
    below = 2 ** (heads.bit_length() - 1)
    exponents = [8 * (head + 1) / below for head in range(below)]
    exponents += [8 * (head + 1) / (2 * below) for head in range(0, 2 * below, 2)]
    numbers = [2.0**-exponent for exponent in exponents[:heads]]
    return torch.tensor(numbers, dtype=dtype, device=device)


def alibi(
    heads: int,
    n_queries: int,
    n_keys: int,
    rows: slice = slice(None),
    some: slice = slice(None),
    *,
    dtype: torch.dtype = torch.float32,
    device: torch.device | str | None = None,
) -> Tensor:
    """What to add to the scaled scores: minus slope times distance. (heads, queries, keys).

    Press et al. 2022, section 3; there keys only precede queries, here distance counts both ways.
    rows, some: the queries and the heads that it is wanted for.
    """
    queries, keys = (torch.arange(n, device=device) for n in (n_queries, n_keys))
    distance = (queries[rows, None] - keys).abs()
    return -slopes(heads, dtype=dtype, device=device)[some, None, None] * distance
