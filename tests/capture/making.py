"""Modules of one's own, as somebody may bring them."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

D_MODEL, HEADS, D_K = 12, 3, 4


class OwnAttention(nn.Module):
    """Attention by torch's function; `said` goes to it as it is."""

    def __init__(self, key_heads: int = HEADS, **said: Any) -> None:
        super().__init__()
        self.queries = nn.Linear(D_MODEL, HEADS * D_K)
        self.keys, self.values = (nn.Linear(D_MODEL, key_heads * D_K) for _ in range(2))
        self.said = said

    def forward(self, x: Tensor, memory: Tensor | None = None) -> Tensor:
        of = (x, *(2 * [x if memory is None else memory]))
        parts = zip((self.queries, self.keys, self.values), of, strict=True)
        heads = [made(given).unflatten(-1, (-1, D_K)).transpose(-3, -2) for made, given in parts]
        y: Tensor = F.scaled_dot_product_attention(*heads, **self.said)
        return y.transpose(-3, -2).flatten(-2)


class ByHand(OwnAttention):
    """Module without that function, so that no one sees queries and keys."""

    def forward(self, x: Tensor, memory: Tensor | None = None) -> Tensor:
        q, k, v = (
            made(x).unflatten(-1, (-1, D_K)).transpose(-3, -2)
            for made in (self.queries, self.keys, self.values)
        )
        weights = torch.softmax(q @ k.transpose(-2, -1) * D_K**-0.5, -1)
        y: Tensor = (weights @ v).transpose(-3, -2).flatten(-2)
        return y


class Block(nn.Module):
    """The residual path around one attention."""

    def __init__(self, attends: nn.Module) -> None:
        super().__init__()
        self.mix = attends

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = x + self.mix(x)
        return y


def model(*attends: nn.Module) -> nn.Sequential:
    """Blocks of these attentions, with the same numbers each time."""
    made = nn.Sequential(*map(Block, attends))
    draw = torch.Generator().manual_seed(5)
    for parameter in made.parameters():
        nn.init.normal_(parameter, std=0.5, generator=draw)
    return made.eval()


def inputs(entries: int = 2, tokens: int = 7, seed: int = 11) -> Tensor:
    return torch.randn(entries, tokens, D_MODEL, generator=torch.Generator().manual_seed(seed))
