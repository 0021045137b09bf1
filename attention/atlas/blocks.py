"""All heads of a run side by side, in blocks that read the same pieces, and those of twins."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from attention.atlas.stages import Subject
from attention.trained.models import LayerInput, Pieces, Run


@dataclass(frozen=True, eq=False)
class Block:
    """Heads of layers behind each other that read the same pieces.

    inputs: of these layers; weights (heads, queries, keys); allowed: which keys each row may see,
    likewise.
    """

    inputs: Sequence[LayerInput]
    weights: Tensor
    allowed: Tensor

    @property
    def pieces(self) -> Pieces:
        """The pieces that queries are of."""
        return self.inputs[0].pieces

    @property
    def keys(self) -> Pieces:
        """The pieces that keys are of."""
        return self.inputs[0].memory_pieces or self.pieces

    @property
    def crosses(self) -> bool:
        """True if queries are of what is written, keys of the sentence: heads have no names."""
        return self.inputs[0].layer.crosses

    @functools.cached_property
    def seen(self) -> Tensor:
        """Keys that some head may see. (queries, keys), bool."""
        return self.allowed.any(0)

    @functools.cached_property
    def even(self) -> Tensor:
        """Weights of rows that are spread evenly over the keys they may see, (heads, queries,
        keys): the mean of all orders of their keys."""
        sums = self.weights.sum(-1, keepdim=True)
        return self.allowed * (sums / self.allowed.sum(-1, keepdim=True).clamp_min(1))


def blocks_of(run: Run) -> Iterator[Block]:
    """All heads of a run, in the order of its layers."""
    for _, group in itertools.groupby(run.inputs, lambda one: one.layer.crosses):
        inputs, weights, allowed = [*group], [], []
        for each in inputs:
            found = each.trace().weights
            mask = each.layer.mask(*found.shape[-2:])
            whole = torch.ones(found.shape[-2:], dtype=torch.bool) if mask is None else mask
            weights.append(found)
            allowed.append(whole.expand_as(found))
        yield Block(inputs, torch.cat(weights), torch.cat(allowed))


@torch.no_grad()
def blocks_over(subject: Subject, text: str) -> list[tuple[Block, Block]]:
    """Blocks of a text through a model, each beside the same of its twins, (twins * heads, …),
    which write what the model wrote."""
    run = subject.model.run(text)
    last = run.inputs[-1]
    output = last.pieces if last.layer.crosses else None
    twins = [blocks_of(twin.run_pieces(run.pieces, output)) for twin in subject.twins]
    return [
        (block, replace(same[0], weights=torch.cat([each.weights for each in same])))
        for block, *same in zip(blocks_of(run), *twins, strict=True)
    ]
