"""A and B, which differ in one thing: the settings of B, and their weights side by side."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from attention.analysis.comparison import align
from attention.core.analysis import divergence_bits
from attention.core.functional import Trace
from attention.core.printing import distinct_names
from attention.core.settings import choice, decimal, settings_of, text, whole
from attention.core.variants import VARIANTS
from attention.core.weighing import SOFTMAX, Weighing
from attention.pipeline import Settings
from attention.trained.sources import NONE

DIFFERENCES = ("word", "head", "variant", "scale", "mask")
SHARED = settings_of(Settings)
SAME_HEAD = -1
MAX_FACTOR = 8.0


@dataclass(frozen=True)
class AgainstSettings:
    """Settings of B: it is as A is shown, but for one difference."""

    differs: str = choice("word", "Change one thing", DIFFERENCES, when=("fold", "against"))
    s2: str = text("", "The sentence of B", 5000, when=("differs", "word"))
    b_head: int = whole(SAME_HEAD, "Head of B", SAME_HEAD, 511, when=("differs", "head"))
    b_variant: str = choice(
        "dot", "Variant of B", lambda: SHARED["variant"].choices, when=("differs", "variant")
    )
    b_factor: float = decimal(
        1.0,
        "Scale of B, as a multiple",
        0.0,
        MAX_FACTOR,
        0.01,
        when=("differs", "scale"),
    )
    b_mask: tuple[str, ...] = choice(
        (), "Masks of B", ("causal", "length", "window"), when=("differs", "mask")
    )


def settings_of_b(a: Settings, scale: float, chosen: Mapping[str, Any]) -> Settings:
    """The settings of B.

    a: those of A; scale: the factor of its scores; chosen: the values of `AgainstSettings`.
    """
    match chosen["differs"]:
        case "word":
            return replace(a, s=chosen["s2"] or a.s)
        case "head":
            return a if chosen["b_head"] == SAME_HEAD else replace(a, head=chosen["b_head"])
        case "variant":
            return on_word_vectors(a, chosen["b_variant"])
        case "scale":
            return replace(a, scale="factor", factor=scale * chosen["b_factor"])
        case _:
            return replace(a, mask=tuple(chosen["b_mask"]))


def on_word_vectors(a: Settings, variant: str) -> Settings:
    """The settings with a variant on word vectors, under its usual scale.

    A scale that is not the usual one of A's variant was chosen on purpose, and stays.
    """
    if a.model == NONE and a.variant == variant:
        return a
    usual = VARIANTS[a.variant].usual_scale.items()
    chosen = a.model == NONE and any(getattr(a, name) != value for name, value in usual)
    scale: dict[str, Any] = {} if chosen else dict(VARIANTS[variant].usual_scale)
    return replace(a, model=NONE, variant=variant, config=(), head=0, **scale)


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two square matrices of weights over the same slots, one slot per token.

    names: one word per slot; a, b: (slots, slots), 0 where a side has no such token; hidden_a,
    hidden_b: bool of the same shape, True = masked; in_a, in_b: (slots,) bool, whether the side
    has a token there; changed: (slots,) bool, whether its word differs from the other's;
    weighings: of A and of B.
    """

    names: tuple[str, ...]
    a: Tensor
    b: Tensor
    hidden_a: Tensor
    hidden_b: Tensor
    in_a: Tensor
    in_b: Tensor
    changed: Tensor
    weighings: tuple[Weighing, Weighing] = (SOFTMAX, SOFTMAX)

    @property
    def shares(self) -> bool:
        """True if the weights of both are shares of 1."""
        return all(weighing.shares for weighing in self.weighings)

    def slot_of(self, query: int) -> int:
        """The slot of a token of A, by its position there."""
        there = self.in_a.nonzero().flatten().tolist()
        return int(there[min(query, len(there) - 1)])

    @property
    def changed_words(self) -> tuple[str, str] | None:
        """The one word that differs, in A and in B; None where more differ."""
        at = self.changed.nonzero().flatten().tolist()
        parts = self.names[at[0]].split(" / ") if len(at) == 1 else []
        return (parts[0], parts[1]) if len(parts) == 2 else None

    @functools.cached_property
    def divergence(self) -> Tensor:
        """`divergence_bits` of each row; nan where a side has no such row. (slots,)"""
        there = self.in_a & self.in_b & self.shares
        return divergence_bits(self.a, self.b).where(there, torch.nan)


def of_settings(tokens: Sequence[str], a: Trace, b: Trace) -> Comparison:
    """Two traces over the same tokens."""
    there = torch.ones(len(tokens), dtype=torch.bool)
    return Comparison(
        names=tuple(distinct_names(tokens)),
        a=a.weights,
        b=b.weights,
        hidden_a=_hidden(a),
        hidden_b=_hidden(b),
        in_a=there,
        in_b=there,
        changed=~there,
        weighings=(a.weighing, b.weighing),
    )


def of_sentences(first: Sequence[str], a: Trace, second: Sequence[str], b: Trace) -> Comparison:
    """Traces over two sentences, token by token as `align` has them."""
    slots = align(tuple(first), tuple(second))
    words = []
    for i, j in slots:
        both = [] if i is None else [first[i]]
        both += [] if j is None else [second[j]]
        words.append(" / ".join(dict.fromkeys(both)))
    present = [torch.tensor([pair[side] is not None for pair in slots]) for side in (0, 1)]
    same = [i is not None and j is not None and first[i] == second[j] for i, j in slots]
    return Comparison(
        names=tuple(distinct_names(words)),
        a=_spread(a.weights, present[0]),
        b=_spread(b.weights, present[1]),
        hidden_a=_spread(_hidden(a), present[0]),
        hidden_b=_spread(_hidden(b), present[1]),
        in_a=present[0],
        in_b=present[1],
        changed=~torch.tensor(same),
        weighings=(a.weighing, b.weighing),
    )


def _hidden(trace: Trace) -> Tensor:
    if trace.mask is None:
        return torch.zeros(trace.weights.shape, dtype=torch.bool)
    return ~trace.mask


def _spread(matrix: Tensor, there: Tensor) -> Tensor:
    """A square matrix with rows and columns of 0 put in where `there` is False."""
    wide = torch.zeros(len(there), len(there), dtype=matrix.dtype)
    wide[there[:, None] & there] = matrix.flatten()
    return wide
