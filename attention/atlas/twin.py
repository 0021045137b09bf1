"""Untrained twins of a model: as it was before training, but for the sizes of its weights.

Heads of a twin look somewhere too, and what they show, training has not made. Each matrix is drawn
from a normal distribution with the mean and the standard deviation of the trained one, so that
scores are as large as in the model; each bias likewise. Gains and biases of norms stay, as do
positions that were never learned: rotations, and Marian's sines.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from attention.atlas.passport import SEED
from attention.core.norms import RmsNorm
from attention.trained.hooked import ByTransformers, parts_of
from attention.trained.models import Embedding, Model
from attention.trained.network import Network
from attention.trained.parts import LayerNorm
from attention.trained.translator import positions

HEADS = 64  # of all twins together, at the least
GAINS = ("g_q", "g_k")  # of norms of queries and keys
MOST = 127  # of a number of 8 bits

Kind = TypeVar("Kind", bound=Model)


def twins_of(model: Kind, heads: int) -> list[Kind]:
    """Twins of a model of so many heads: one of a large model, several of a small one, so that the
    most that untrained heads do is the most of `HEADS`."""
    return [untrained(model, seed) for seed in range(-(-HEADS // heads))]


@torch.no_grad()
def untrained(model: Kind, seed: int = SEED) -> Kind:
    """The twin of a model, in memory of its own; the same for the same seed.

    Tensors that share memory, as an embedding and an unembedding that are tied, share it again.
    """
    drawing = _Drawing(seed)
    if isinstance(model, ByTransformers):
        network = Network(_redrawn(model.network.whole, drawing.tensor), model.network.filler)
        parts = parts_of(network, model.parts.limit, model.parts.ends)
        return type(model)(model.about, model._read, parts, network)
    return type(model)(model.about, model._read, drawing.part(model.parts))


class _Drawing:
    """Parts of a model, drawn anew."""

    def __init__(self, seed: int) -> None:
        self._generator = torch.Generator().manual_seed(seed)
        self._drawn: dict[tuple[int, tuple[tuple[int, int], ...]], Tensor] = {}

    def part(self, part: Any) -> Any:
        """A part in which each tensor is another one, and all else the same."""
        if isinstance(part, LayerNorm | RmsNorm):
            return copy.deepcopy(part)
        if isinstance(part, Tensor):
            return self.tensor(part)
        if isinstance(part, nn.Module):
            return self._module(part)
        if isinstance(part, list | tuple) and any(map(is_dataclass, part)):
            return type(part)(map(self.part, part))
        if is_dataclass(part) and not isinstance(part, type):
            parts = {each.name: getattr(part, each.name) for each in fields(part) if each.init}
            drawn = {name: self.part(each) for name, each in parts.items()}
            if isinstance(part, Embedding):
                drawn["positions"] = self._positions(part.positions)
            return replace(part, **drawn)
        return part

    def _module(self, module: nn.Module) -> nn.Module:
        made = copy.copy(module)
        made._buffers = {
            name: each.clone() if name in GAINS and each is not None else self.part(each)
            for name, each in module._buffers.items()
        }
        return made

    def _positions(self, table: Tensor | None) -> Tensor | None:
        """Positions, drawn anew but for Marian's, which are no parameters."""
        if table is None or not torch.equal(table, positions(*table.shape)):
            return None if table is None else self.tensor(table)
        return table.clone()

    def tensor(self, trained: Tensor) -> Tensor:
        """A tensor of the same shape, type and order in memory. Of whole numbers it is rounded."""
        axes = sorted(range(trained.dim()), key=trained.stride, reverse=True)
        stored = trained.permute(axes)
        key = stored.data_ptr(), tuple(zip(stored.shape, stored.stride(), strict=True))
        if key not in self._drawn:
            self._drawn[key] = self._normal(stored)
        back = sorted(range(trained.dim()), key=axes.__getitem__)
        return self._drawn[key].permute(back)

    def _normal(self, trained: Tensor) -> Tensor:
        numbers = trained.float()
        mean, deviation = float(numbers.mean()), float(numbers.std(correction=0))
        drawn = torch.empty(trained.shape).normal_(mean, deviation, generator=self._generator)
        if trained.is_floating_point():
            return drawn.to(trained.dtype)
        return drawn.round().clamp(-MOST, MOST).to(trained.dtype)


def _redrawn(whole: nn.Module, draw: Callable[[Tensor], Tensor]) -> nn.Module:
    """A model of transformers as another one is, with tensors of its own."""
    theirs: Any = whole
    with torch.random.fork_rng(devices=[]):
        made: nn.Module = type(theirs)(copy.deepcopy(theirs.config))
    made.to(theirs.dtype)
    for name, module in whole.named_modules():
        ours = made.get_submodule(name)
        for each, parameter in module.named_parameters(recurse=False):
            norm = parameter.dim() < 2 and "norm" in type(module).__name__.lower()
            drawn = parameter.clone() if norm else draw(parameter)
            ours.get_parameter(each).copy_(drawn)
    return made
