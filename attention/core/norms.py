"""Norms of vectors that queries and keys may go through, too."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, eq=False)
class RmsNorm:
    """Root mean square normalisation (Zhang & Sennrich 2019, eq. 4). weight: (d_model,)."""

    weight: Tensor
    eps: float

    def __call__(self, x: Tensor) -> Tensor:
        return torch.rms_norm(x, self.weight.shape, self.weight, self.eps)

    def spread(self, x: Tensor) -> Tensor:
        """The root that x is divided by. (…, d_model) -> (…, 1)."""
        return (x.square().mean(-1, keepdim=True) + self.eps).sqrt()

    def split(self, parts: Tensor, total: Tensor) -> Tensor:
        """Pass each part of a sum through the norm, all divided by the spread of the sum."""
        return parts / self.spread(total) * self.weight
