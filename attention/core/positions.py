"""Positions: added to the vectors, rotated into queries and keys, or added to the scores.

Angles are worked out in float64 on the CPU, so that they are the same on every device, also on
those without float64; what comes of them is made in the dtype and on the device that is asked for.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

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


@dataclass(frozen=True)
class Rotary:
    """Queries or keys rotated by their position (Su et al. 2021, section 3.4.2, eq. 34).

    Pairs of dimensions are rotated, the i-th pair at position p by p / base^(2i/d_k); the last
    dimension of an odd d_k stays. Lengths stay, and the product of a query and a key depends on how
    far apart they are, not on where.
    halves: whether dimension i is paired with the one half of d_k further on, as in the weights of
    Llama (Touvron et al. 2023) at Hugging Face, rather than 2i with 2i + 1, as in the paper.
    slower: by what the angle of each pair is divided, for texts longer than a model was first
    trained on (Chen et al. 2023, eq. 3, divides all by the same); empty: by nothing.
    """

    base: float = 10000.0
    halves: bool = False
    slower: tuple[float, ...] = ()

    def __call__(self, vectors: Tensor, first: int = 0) -> Tensor:
        """vectors (…, tokens, d_k) -> the same shape. first: the position of the first token."""
        n_tokens, d_k = vectors.shape[-2:]
        cosines, sines = self.rotations(n_tokens, d_k, first).to(vectors).unbind(-1)
        left, right = (vectors[..., side] for side in self.sides(d_k))
        pairs = torch.stack([left * cosines - right * sines, left * sines + right * cosines], -1)
        rotated = (pairs.mT if self.halves else pairs).flatten(-2)
        return torch.cat([rotated, vectors[..., d_k // 2 * 2 :]], dim=-1)

    def rotations(self, n_tokens: int, d_k: int, first: int = 0) -> Tensor:
        """Cosine and sine by which each pair of dimensions is rotated; not to be changed in place.

        Returns (tokens, d_k // 2, 2) in float64, on the CPU.
        """
        return _rotations(self, n_tokens, d_k, first)

    def frequencies(self, d_k: int) -> Tensor:
        """The angle by which each pair turns from one token to the next. (d_k // 2,), float64."""
        return _turns(self, 1, d_k, 1)[0]

    def sides(self, d_k: int) -> tuple[slice, slice]:
        """The first and the second dimension of all pairs."""
        half = d_k // 2
        if self.halves:
            return slice(0, half), slice(half, 2 * half)
        return slice(0, 2 * half, 2), slice(1, 2 * half, 2)


def rotary(vectors: Tensor) -> Tensor:
    """Queries or keys rotated as in the paper, see `Rotary`. (…, tokens, d_k)."""
    return Rotary()(vectors)


@functools.lru_cache(maxsize=16)  # queries and keys of all layers of a model ask for the same
@torch.inference_mode(False)  # what is kept may meet gradients later
def _rotations(rotary: Rotary, n_tokens: int, d_k: int, first: int) -> Tensor:
    angles = _turns(rotary, n_tokens, d_k, first)
    return torch.stack([angles.cos(), angles.sin()], dim=-1)


def _turns(rotary: Rotary, n_tokens: int, d_k: int, first: int) -> Tensor:
    """The angle of each pair at each position. (tokens, d_k // 2), float64."""
    angles = _angles(n_tokens, d_k // 2 * 2, d_k, rotary.base, first)
    if rotary.slower:
        angles = angles / torch.tensor(rotary.slower, dtype=angles.dtype, device="cpu")
    return angles


def _angles(
    n_tokens: int, dimensions: int, width: int, base: float = 10000.0, first: int = 0
) -> Tensor:
    """`pos / base^(2i/width)` for each even dimension 2i. (tokens, ⌈dimensions / 2⌉), float64."""
    steps = torch.arange(first, first + n_tokens, dtype=torch.float64, device="cpu")
    positions = steps[:, None]
    even = torch.arange(0, dimensions, 2, dtype=torch.float64, device="cpu")
    return positions / base ** (even / width)


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
    """Bias for the scaled scores: minus slope times distance. (heads, queries, keys).

    Press et al. 2022, section 3; there keys only precede queries, here distance counts both ways.
    rows, some: the queries and the heads that it is wanted for.
    """
    queries, keys = (torch.arange(n, device=device) for n in (n_queries, n_keys))
    distance = (queries[rows, None] - keys).abs()
    return -slopes(heads, dtype=dtype, device=device)[some, None, None] * distance
