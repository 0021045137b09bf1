"""Position encodings."""

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
