"""Two settings, or two sentences, side by side: what differs, row by row; and one setting swept.

The second setting, B, has the settings of the first under the same names with `b_` before them,
but for those that both share.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from attention.analysis.comparison import align, divergence_bits
from attention.analysis.sweeps import SWEEPS
from attention.core.analysis import entropy_bits
from attention.core.functional import Trace
from attention.core.limits import MAX_SEEN
from attention.core.printing import distinct_names, fixed, listed
from attention.core.settings import Declared, Value, choice, decimal, text
from attention.figures.tables import typed

MAX_KEYS = 24
ABSENT = "—"


@dataclass(frozen=True)
class CompareSettings:
    """Settings of the page "Compare", besides those of A and B."""

    compare: str = choice(
        "settings",
        "What to compare",
        ("settings", "sweep", "pair"),
        help="settings: two settings, one sentence. sweep: one setting over its range. pair: one "
        "setting, two sentences.",
    )
    s2: str = text(
        "the cat sleeps on the street", "Second sentence", 5000, when=("compare", "pair")
    )
    sweep: str = choice(
        "scale",
        "Sweep",
        SWEEPS,
        help="scale: multiplies the scores. temperature: divides them, just before the softmax. "
        "window: how many tokens a query sees to each side.",
    )
    sweep_at: float = decimal(
        1.0, "At", 0.0, float(MAX_SEEN), 0.001, help="The value the slider stands at."
    )


def differences(a: Mapping[str, Value], b: Mapping[str, Value], declared: Declared) -> list[str]:
    """Differences of two settings in words: "scale: 1/√d_k → none", one line each.

    a, b: the settings that mean something, by the same names; declared: their labels.
    """
    lines = []
    for name in dict.fromkeys([*a, *b]):
        ours, theirs = a.get(name), b.get(name)
        if name != "s" and ours != theirs:
            label = declared[name].label
            label = label if label[1:2] == "_" else label.lower()
            lines.append(f"{label}: {_shown(ours)} → {_shown(theirs)}")
    return lines


def _shown(value: Value | None) -> str:
    if isinstance(value, tuple):
        return ", ".join(value) or "none"
    if isinstance(value, str):
        return (value if len(value) <= 40 else f"{value[:40]}…") or "none"
    return ABSENT if value is None else typed(value)


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two square matrices of weights over the same slots, one slot per token.

    names: one word per slot; a, b: (slots, slots), 0 where a side has no such token; hidden_a,
    hidden_b: bool of the same shape, True = masked; in_a, in_b: (slots,) bool, whether the side
    has a token there; changed: (slots,) bool, whether its word differs from the other's; shares:
    whether the weights of A and of B are shares of 1, see `Trace.weights_are_a_distribution`.
    """

    names: tuple[str, ...]
    a: Tensor
    b: Tensor
    hidden_a: Tensor
    hidden_b: Tensor
    in_a: Tensor
    in_b: Tensor
    changed: Tensor
    shares: tuple[bool, bool] = (True, True)

    @functools.cached_property
    def divergence(self) -> Tensor:
        """`divergence_bits` of each row; nan where a side has no such row. (slots,)"""
        there = self.in_a & self.in_b & all(self.shares)
        return divergence_bits(self.a, self.b).where(there, torch.nan)

    @functools.cached_property
    def entropies(self) -> tuple[Tensor, Tensor]:
        """Entropy in bits of each row of A and of B, nan where there is none. 2 × (slots,)"""

        def bits(weights: Tensor, there: Tensor, shares: bool) -> Tensor:
            return entropy_bits(weights.double()).where(there & shares, torch.nan)

        first, second = self.shares
        return bits(self.a, self.in_a, first), bits(self.b, self.in_b, second)

    def row_words(self, row: int) -> str:
        """Describe the change of one row, in a sentence."""
        name, bits = _shown(self.names[row]), float(self.divergence[row])
        for there, side in ((self.in_a, "first"), (self.in_b, "second")):
            if not there[row]:
                other = "second" if side == "first" else "first"
                return f"“{name}” is only in the {other} sentence: there is nothing to compare."
        sums = {"A": float(self.a[row].double().sum()), "B": float(self.b[row].double().sum())}
        empty = [side for side, total in sums.items() if total == 0]
        if empty and all(self.shares):
            return (
                f"“{name}” may look at nothing in {listed(empty)}, so there is nothing to compare."
            )
        if math.isnan(bits):
            totals = listed(f"{fixed(total, 2)} in {side}" for side, total in sums.items())
            return f"The row of “{name}” adds up to {totals}: only shares of 1 have a divergence."
        before, after = (fixed(float(bits[row]), 2) for bits in self.entropies)
        spread = "is as spread out in B as in A"
        if before != after:
            focus = "more spread out" if float(before) < float(after) else "more focused"
            spread = f"is {focus} in B, {before} → {after} bits"
        return (
            f"The attention of “{name}” {spread}, and the two rows differ by {fixed(bits, 2)} bits."
        )

    def row_table(self, row: int) -> tuple[list[str], Columns, list[str]]:
        """Names, columns and sums of one row: weights and their change.

        What gained most comes first, what lost most last; the others are summed up between them.
        """
        before, after = self.a[row].double(), self.b[row].double()
        order = (after - before).argsort(descending=True, stable=True).tolist()
        half = MAX_KEYS // 2
        rest = order[half:-half] if len(order) > MAX_KEYS else []
        names = [self.names[key] for key in order]
        everywhere = torch.ones_like(self.in_a)
        columns: dict[str, list[float | str]] = {}
        totals = []
        for title, numbers, there in (
            ("weight A", before, self.in_a),
            ("weight B", after, self.in_b),
            ("change", after - before, everywhere),
        ):
            columns[title] = [float(numbers[key]) if there[key] else ABSENT for key in order]
            if rest:
                columns[title][half:-half] = [float(numbers[rest].sum())]
            totals.append(fixed(float(numbers.sum()), 2))
        if rest:
            names[half:-half] = [f"{len(rest)} between"]
        return names, columns, ["sum", *totals]


Columns = Mapping[str, Sequence[float | str]]


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
        shares=(a.weights_are_a_distribution, b.weights_are_a_distribution),
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
        shares=(a.weights_are_a_distribution, b.weights_are_a_distribution),
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
