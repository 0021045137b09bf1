"""Layers without a softmax in a run: what they read, decay and erase, and rows of weights of it.

Such a layer keeps one state of d_k × d_v numbers. Its output is a sum of values by weights all the
same, which are made here when they are asked for: `attention.core.recurrence`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from attention.capture.attentions import WithRows
from attention.core.recurrence import weights_of_rows

Rule = Literal["gated delta rule", "state space"]
NORM_EPSILON = 1e-6  # of the kernels that bring queries and keys to length 1


@dataclass(eq=False, kw_only=True)
class Recurrence(WithRows):
    """One layer without a softmax: all heads of one module, each query seeing the keys up to it.

    rule: "gated delta rule" (Yang et al. 2024, 2412.06464) or "state space" (Mamba-2, Dao & Gu
    2024: queries, keys and values are C, B and X); queries, keys: (entries, key heads, tokens,
    d_k), of which `groups` says each head's; values: (entries, heads, tokens, d_v) or None;
    strength: how strongly each key is written, β or Δ, (entries, heads, tokens); decay: the
    logarithm of what each token leaves of what was before, as large, None where it is
    `strength · rate`; rate: A of each head, (heads,); is_normed: the kernel brings queries and keys
    to length 1 first; beside: what the layer does beside its matrix, in words. Weights may lie
    below 0, and rows sum to anything.
    """

    rule: Rule
    strength: Tensor
    decay: Tensor | None = None
    rate: Tensor | None = None
    is_normed: bool = False
    beside: str = ""

    @property
    def weights_are_a_distribution(self) -> bool:
        return False

    @property
    def erases(self) -> bool:
        """True if a key takes back what was written before at keys like it."""
        return self.rule == "gated delta rule"

    @property
    def words(self) -> str:
        """Name of its rule, and of what its matrix does not hold."""
        return f"{self.rule}, no softmax; not in its matrix: {self.beside}"

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Entries, heads that are kept, queries and keys."""
        entries, _, tokens, _ = self.queries.shape
        return entries, len(self.heads), tokens, tokens

    def values_of(self, head: int, entry: int) -> Tensor:
        """The values of a head. Raises ValueError where they were not kept. (keys, d_v)."""
        if self.values is None:
            raise ValueError("the run must have values: capture(values=True) keeps them, got none")
        return self.values[entry, head]

    def rows_of(self, head: int, rows: Tensor, entry: int, first: int = 0) -> Tensor:
        """Whole rows of weights, 0 in chunks of keys before the first that is asked for."""
        queries = self.queries[entry, self.groups[head]][rows].to(self._type)
        keys = self.keys[entry, self.groups[head]].to(self._type)
        if self.is_normed:
            queries, keys = (_of_length_1(vectors) for vectors in (queries, keys))
        strength = self.strength[entry, head].to(self._type)
        if self.rate is not None:
            decay = strength * self.rate[head].to(self._type)
        else:
            decay = torch.zeros_like(strength) if self.decay is None else self.decay[entry, head]
        queries = queries * self.scale
        return weights_of_rows(queries, rows, keys, decay, strength, self.erases, first)


def _of_length_1(vectors: Tensor) -> Tensor:
    return vectors * (vectors.square().sum(-1, keepdim=True) + NORM_EPSILON).rsqrt()
