"""Networks that learn: layers of this project's own variants, and two without any."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor, nn

from attention.core.functional import Trace
from attention.core.variants import MultiHead
from attention.training.settings import Sizes

WIDEST = 2048
SEEDS = 10_000  # of a layer: those of one training are apart from those of the next


def table(rows: int, width: int, generator: torch.Generator) -> nn.Parameter:
    """Vectors to be learned, normal with a deviation of 1. (rows, width)."""
    return nn.Parameter(torch.randn(rows, width, generator=generator))


def matrix(rows: int, columns: int, generator: torch.Generator) -> nn.Parameter:
    """A matrix to be learned, uniform in ±1/√rows. (rows, columns)."""
    bound = 1 / math.sqrt(rows)
    return nn.Parameter((torch.rand(rows, columns, generator=generator) * 2 - 1) * bound)


def count(network: nn.Module) -> int:
    """Number of the parameters of a network."""
    return sum(parameter.numel() for parameter in network.parameters())


class Layers(nn.Module):
    """Layers of a variant, each adding to the vectors what it finds (pre-norm)."""

    def __init__(
        self,
        sizes: Sizes,
        seed: int,
        variant: type[MultiHead] = MultiHead,
    ) -> None:
        super().__init__()
        width, seeds = sizes.width, [SEEDS * (at + 1) + seed for at in range(sizes.layers)]
        self.scaled = sizes.scaled
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in seeds)
        self.attention = nn.ModuleList(seeded(width, sizes.heads, seed, variant) for seed in seeds)

    def forward(
        self,
        x: Tensor,
        mask: Tensor | None = None,
        memory: Tensor | None = None,
        seen: Callable[[Trace], object] | None = None,
    ) -> Tensor:
        """x (…, queries, width) -> the same shape, through all layers.

        mask: (queries, keys); memory: (…, keys, width), where keys and values come from, None = x;
        seen: gets the Trace of each layer.
        """
        for norm, layer in zip(self.norms, self.attention, strict=True):
            kept = memory if memory is None else norm(memory)
            assert isinstance(layer, MultiHead)
            trace = attended(layer, norm(x), mask, kept, self.scaled)
            if seen is not None:
                seen(trace)
            x = x + layer.output(trace)
        return x


class Writer(nn.Module):
    """A model of layers with learned positions: scores of symbols at each."""

    def __init__(
        self,
        sizes: Sizes,
        seed: int,
        generator: torch.Generator,
        *,
        symbols: int,
        mask: Tensor,
    ) -> None:
        """symbols: how many there are; mask: (tokens, tokens) of the longest sequence."""
        super().__init__()
        self.mask = mask
        self.symbols = table(symbols, sizes.width, generator)
        self.positions = table(len(mask), sizes.width, generator) if sizes.ordered else None
        self.layers = Layers(sizes, seed)
        self.norm = nn.LayerNorm(sizes.width)
        self.answers = matrix(sizes.width, symbols, generator)

    def forward(
        self,
        symbols: Tensor,
        seen: Callable[[Trace], object] | None = None,
        masked: bool = True,
    ) -> Tensor:
        """(batch, tokens) -> scores of the symbols (batch, tokens, symbols)."""
        tokens = symbols.shape[1]
        x = self.symbols[symbols]
        x = x if self.positions is None else x + self.positions[:tokens]
        mask = self.mask[:tokens, :tokens] if masked else None
        scores: Tensor = self.norm(self.layers(x, mask, seen=seen)) @ self.answers
        return scores


def attended(
    layer: MultiHead, x: Tensor, mask: Tensor | None, memory: Tensor | None, scaled: bool = True
) -> Trace:
    """All steps of a layer over x, with fewer passes over the scores than `Variant.forward` takes.

    The scale is on the queries, and hidden keys, of which no query may have all, get −∞ as a bias
    where that hides them.
    """
    projected = layer.projected(x, memory)
    if scaled and layer.published_scale == MultiHead.published_scale:
        shorter = projected.queries / math.sqrt(projected.queries.shape[-1])
        projected = replace(projected, queries=shorter)
    hidden = None
    if mask is not None and not layer.weighing.hides_by_zero:
        hidden, mask = torch.zeros(mask.shape).masked_fill(~mask, -math.inf), None
    sliced = layer.sliced(projected, mask, scale=1.0, bias=lambda queries, heads: hidden)
    return sliced(slice(None), slice(None))


def seeded(width: int, heads: int, seed: int, variant: type[MultiHead] = MultiHead) -> MultiHead:
    """A layer of this project's own, its parameters drawn with a seed."""
    generator = torch.Generator().manual_seed(seed)
    made = variant(variant.Config(d_model=width, heads=heads, **variant.trained_with))
    with torch.no_grad():
        for parameter in made.parameters():
            bound = math.sqrt(3 / width)
            parameter.copy_((torch.rand(parameter.shape, generator=generator) * 2 - 1) * bound)
    return made


def recurrent(width: int, generator: torch.Generator, state: int) -> nn.GRU:
    """A gated recurrent unit (Cho et al. 2014), uniform in ±1/√state from a generator."""
    made = nn.GRU(width, state, batch_first=True, device="meta").to_empty(device="cpu")
    with torch.no_grad():
        for parameter in made.parameters():
            drawn = torch.rand(parameter.shape, generator=generator) * 2 - 1
            parameter.copy_(drawn / math.sqrt(state))
    return made


def as_large(make: Callable[[int], nn.Module], most: int) -> nn.Module:
    """The widest network that has no more than so many parameters. make: gives that of a width."""
    widths = range(1, WIDEST)
    low, high = 0, len(widths)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if count(make(widths[middle])) <= most else (low, middle)
    return make(widths[low])
