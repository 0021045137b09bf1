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

from attention.analysis.comparison import align, divergence_bits, divergence_terms
from attention.analysis.sweeps import SWEEPS, Sweep
from attention.core.analysis import entropy_bits
from attention.core.functional import Trace
from attention.core.limits import MAX_SEEN
from attention.core.printing import distinct_names, listed
from attention.core.settings import Declared, Value, choice, decimal, text
from attention.figures.tables import number, typed

MAX_KEYS = 24
MAX_ROWS = 32
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

    def positions(self, row: int) -> list[int | None]:
        """The position of a row's token in the sentence of A and in that of B, None: not there."""
        sides = (self.in_a, self.in_b)
        return [int(there[:row].sum()) if there[row] else None for there in sides]

    def row_words(self, row: int) -> str:
        """Describe the change of one row, in a sentence or two."""
        name, bits = _shown(self.names[row]), float(self.divergence[row])
        for there, side in ((self.in_a, "first"), (self.in_b, "second")):
            if not there[row]:
                other = "second" if side == "first" else "first"
                return f"“{name}” is only in the {other} sentence: there is nothing to compare."
        sums = {"A": float(self.a[row].double().sum()), "B": float(self.b[row].double().sum())}
        if not all(self.shares):
            told = listed(f"{number(total)} in {side}" for side, total in sums.items())
            return f"{self._unshared()} The row of “{name}” adds up to {told}."
        if empty := [side for side, total in sums.items() if total == 0]:
            return (
                f"“{name}” may look at nothing in {listed(empty)}, so there is nothing to compare."
            )
        if math.isnan(bits):
            told = listed(f"{number(total)} in {side}" for side, total in sums.items())
            return f"The row of “{name}” adds up to {told}: only rows of sum 1 have a divergence."
        before, after = (float(bits[row]) for bits in self.entropies)
        says = {True: "is more spread out in B", False: "is more focused in B"}
        same = number(before) == number(after)
        spread = "is as spread out in B as in A" if same else says[after > before]
        return (
            f"The attention of “{name}” {spread}: its entropy goes from {number(before)} to "
            f"{number(after)} bits. The two rows differ by {number(bits)} bits."
        )

    def _unshared(self) -> str:
        """Name the sides whose weights are no shares, in a sentence."""
        sides = [side for side, share in zip("AB", self.shares, strict=True) if not share]
        return (
            f"The weights of {listed(sides)} are no shares: they may lie below 0, and then take a "
            "value away, and rows need not sum to 1. So rows have no entropy and no divergence."
        )

    def row_table(self, row: int) -> tuple[list[str], Columns, list[str]]:
        """Names, columns and sums of one row: weights, change, and what adds to the divergence.

        What gained most comes first, what lost most last; the others are summed up between them.
        The last column holds what each key adds to the divergence of the row.
        """
        gained = (self.b[row].double() - self.a[row].double()).tolist()
        order = sorted(range(len(gained)), key=lambda key: -gained[key])
        half = MAX_KEYS // 2
        cut = len(order) > MAX_KEYS
        rest = order[half:-half] if cut else []
        shown = [*order[:half], *order[-half:]] if cut else order
        terms = divergence_terms(self.a[row], self.b[row])
        told = not math.isnan(self.divergence[row])
        numbers: dict[str, tuple[Tensor, Tensor | None]] = {
            "weight A": (self.a[row].double(), self.in_a),
            "weight B": (self.b[row].double(), self.in_b),
            "change": (self.b[row].double() - self.a[row].double(), None),
        }
        if all(self.shares):
            numbers["divergence"] = (terms if told else terms * torch.nan, None)
        columns: dict[str, list[float | str]] = {}
        totals = []
        for title, (column, there) in numbers.items():
            cells: list[float | str] = [
                _cell(float(column[key]), there is None or bool(there[key])) for key in shown
            ]
            if cut:
                cells.insert(half, _cell(float(column[rest].sum())))
            columns[title] = cells
            totals.append(_sum(title, float(column.sum())))
        words = [self.names[key] for key in shown]
        if cut:
            words.insert(half, f"{len(rest)} between")
        return words, columns, ["sum", *totals]

    def rows_table(self) -> tuple[list[str], Columns, list[str]]:
        """Names, columns and means of all rows, those that changed most first."""
        before, after = self.entropies
        numbers = {
            "divergence": self.divergence,
            "entropy A": before,
            "entropy B": after,
            "change": after - before,
        }
        if not all(self.shares):
            both = self.in_a & self.in_b
            moved = (self.b.double() - self.a.double()).abs().sum(-1)
            sums = (self.a.double().sum(-1), self.b.double().sum(-1))
            numbers = {
                "size of change": moved.where(both, torch.nan),
                "sum A": sums[0].where(self.in_a, torch.nan),
                "sum B": sums[1].where(self.in_b, torch.nan),
            }
        first = next(iter(numbers.values()))
        order = first.nan_to_num(-1.0).argsort(descending=True, stable=True)
        shown, rest = order[:MAX_ROWS], order[MAX_ROWS:]
        words = [self.names[row] for row in shown.tolist()]
        columns: dict[str, list[float | str]] = {
            title: [_cell(value) for value in column[shown].tolist()]
            for title, column in numbers.items()
        }
        if len(rest):
            words.append(f"mean of {len(rest)} more")
            for title, column in numbers.items():
                columns[title].append(_cell(float(column[rest].nanmean())))
        means = [_text(float(column.nanmean())) for column in numbers.values()]
        return words, columns, ["mean of all", *means]

    @property
    def rows_words(self) -> str:
        """Explain the numbers of `rows_table`, in a sentence or two."""
        both, none = self.in_a & self.in_b, self.divergence.isnan()
        before, after = self.entropies
        empty = before.isnan() | after.isnan()
        without = {
            "is only in one sentence": ~both,
            "may look at nothing": both & empty,
            "does not add up to 1": none & ~empty,
        }
        if not all(self.shares):
            return self._unshared()
        why = " or ".join(words for words, rows in without.items() if rows.any())
        return (
            "The divergence says how much two rows differ: 0 bits if they are equal, 1 if they "
            "share no key (Jensen–Shannon)."
            + (f" A row that {why} has none, “—”, and no part in the means." if why else "")
        )


Columns = Mapping[str, Sequence[float | str]]


def _cell(value: float, there: bool = True) -> float | str:
    return ABSENT if math.isnan(value) or not there else value


def _sum(title: str, value: float) -> str:
    """A sum of rows; what two sums of 1 in float32 leave over is no change and shown as 0."""
    return _text(0.0 if title == "change" and abs(value) < 1e-6 else value)


def _text(value: float) -> str:
    return ABSENT if math.isnan(value) else number(value)


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


def sweep_words(swept: Sweep, wanted: float) -> str:
    """Explain a sweep, in a sentence or two; wanted: the value in the link."""
    words = {"scale": _scale_words, "temperature": _temperature_words, "window": _window_words}
    colours = "Colours go from 0 to 1 in every picture"
    dots = "" if swept.block == 1 else f"; a small dot is the greatest of {swept.block}² weights"
    beyond = ""
    if wanted != swept.at:
        beyond = f" There is no {swept.kind} {wanted:g} here; showing {swept.at:g}."
    return f"{words[swept.kind](swept)} {colours}{dots}.{beyond}"


GREATEST = "the greatest score of its row, or to those that tie for it"


def _scale_words(swept: Sweep) -> str:
    if swept.bias is None:
        what = "all keys that a query may see get the same"
        grows = f"more of the weight goes to {GREATEST}"
    else:
        what = "the distance alone decides"
        grows = "the scores count more beside it"
    return f"At scale 0 {what}. With a larger scale {grows}."


def _temperature_words(swept: Sweep) -> str:
    return (
        f"The lower the temperature, the more of the weight goes to {GREATEST}. The higher, the "
        "more evenly a query shares among the keys it may see."
    )


def _window_words(swept: Sweep) -> str:
    others = "" if swept.mask is None else ", if the other masks allow them"
    return f"A query sees up to this many tokens to each side{others}."


def alignment_words(compared: Comparison) -> str:
    """Explain how two sentences were laid side by side, in a sentence."""
    both = compared.in_a & compared.in_b
    alone = [int((there & ~both).sum()) for there in (compared.in_a, compared.in_b)]
    replaced = [
        f"“{_shown(compared.names[slot])}”"
        for slot in (both & compared.changed).nonzero().flatten()
    ]
    paired = int(both.sum())
    if not replaced and not any(alone):
        return "Both sentences have the same words, so nothing differs. Change one of them."
    words = []
    if replaced:
        more = f" and {len(replaced) - 6} more" if len(replaced) > 6 else ""
        words.append(f"they differ in {', '.join(replaced[:6])}{more}")
    for count, side in zip(alone, ("first", "second"), strict=True):
        if count:
            verb = "is" if count == 1 else "are"
            words.append(f"{count} {verb} only in the {side}, hatched")
    tokens = f"{paired} {'token is' if paired == 1 else 'tokens are'} compared side by side"
    return f"{tokens}; {'; '.join(words)}."
