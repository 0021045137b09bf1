"""Common mistakes in attention code, each beside the right result."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from attention.core import masks
from attention.core.functional import additive_scores, attend, masked_softmax
from attention.core.printing import percent
from attention.figures.matrix import Matrix
from attention.figures.tables import number, typed
from attention.subjects.identities.claim import (
    Case,
    Check,
    ClaimResult,
    Codes,
    compared,
    output_rounding,
    rounding,
    weight_rounding,
)

LARGEST_POWER = 700.0  # e^709 is the greatest that float64 holds
WEIGHTS = "scores = queries @ keys.T / d_k ** 0.5\nweights = scores.softmax(dim=-1)\n"


def mistake(case: Case) -> ClaimResult:
    """The chosen mistake, one of `MISTAKES`. Raises ValueError for another."""
    if case.mistake not in MISTAKES:
        raise ValueError(f"mistake must be one of {', '.join(MISTAKES)}, got {case.mistake!r}")
    return MISTAKES[case.mistake](case)


def _result(
    says: str,
    formula: str,
    why: str,
    codes: tuple[str, str],
    results: tuple[Matrix, Matrix],
    allowed: float,
    given: Sequence[Matrix],
) -> ClaimResult:
    """Result of a mistake: both pieces of code, both results."""
    right, wrong = results
    check = Check(f"{right.name} and {wrong.name}", right, wrong, allowed, equal=False)
    return ClaimResult(
        says,
        formula,
        why,
        [
            Codes(dict(zip(("Right", "Wrong"), codes, strict=True))),
            compared("The right result, the wrong one, and what is between.", right, wrong),
        ],
        [check],
        given,
    )


def _shares(case: Case, name: str, weights: Tensor) -> Matrix:
    return Matrix(name, weights, case.names, case.names, kind="share")


def _values(case: Case) -> ClaimResult:
    """Averages x where v was meant."""
    x, d_model = case.x, case.x.shape[1]
    W_q, W_k, _, W_v = case.parameters((d_model, d_model))
    weights = attend(x @ W_q, x @ W_k, x).weights
    right, wrong = weights @ (x @ W_v), weights @ x
    return _result(
        "Averages x where the values were meant.",
        r"y_i = \sum_j w_{ij}\, x_j W_v \;\neq\; \sum_j w_{ij}\, x_j",
        "The values are made, then forgotten: the sum runs over x, and W_v never learns.",
        (
            f"values = x @ W_v\n{WEIGHTS}output = weights @ values",
            f"values = x @ W_v\n{WEIGHTS}output = weights @ x",
        ),
        (case.matrix("A (X W_v)", right), case.matrix("A X", wrong)),
        output_rounding(x, W_q, W_k, W_v),
        [*case.given(W_q=W_q, W_k=W_k, W_v=W_v), _shares(case, "A", weights)],
    )


def _fill(case: Case) -> ClaimResult:
    """Fills masked scores with a number where −∞ was meant."""
    W_q, W_k, _ = case.parameters()
    n = len(case.x)
    valid = max(n - case.pads, 1)
    mask = masks.lengths(torch.tensor([valid]), n)[0].expand(n, n)
    scaled = attend(case.x @ W_q, case.x @ W_k, case.x).scaled
    right = masked_softmax(scaled, mask)
    wrong = scaled.masked_fill(~mask, case.fill).softmax(-1)
    padding = float(wrong[:, valid:].double().sum(-1).max())
    code = repr(case.fill).removesuffix(".0")
    power = number(math.exp(case.fill)) if case.fill < LARGEST_POWER else "beyond all bounds"
    return _result(
        f"Fills masked scores with {typed(case.fill)}.",
        r"e^{-\infty} = 0 \qquad\text{but}\qquad e^{s} > 0 \;\text{ for every number } s",
        f"A score of {typed(case.fill)} is a score like others: its exponential, {power}, counts "
        "beside those of the words. "
        + (
            f"Padding keeps up to {percent(padding, 1)} of a query’s weight here."
            if padding > 0
            else "Here it is too small for float32 to tell from 0."
            if n > valid
            else "Here no token is padding."
        ),
        (
            "scores = scores.masked_fill(~mask, -torch.inf)\nweights = scores.softmax(dim=-1)",
            f"scores = scores.masked_fill(~mask, {code})\nweights = scores.softmax(dim=-1)",
        ),
        (
            _shares(case, "filled with −∞", right),
            _shares(case, f"filled with {typed(case.fill)}", wrong),
        ),
        0.0,
        [*case.given(W_q=W_q, W_k=W_k), case.matrix("scores", scaled, square=True)],
    )


def _count(case: Case) -> ClaimResult:
    """Scales by the count of all numbers in the tensor where d_k was meant."""
    W_q, W_k, _ = case.parameters()
    queries, keys = case.x @ W_q, case.x @ W_k
    counts = {"d_k": case.d_k, "all numbers": queries.numel()}
    right, wrong = (
        attend(queries, keys, case.x, scale=1 / math.sqrt(count)).weights
        for count in counts.values()
    )
    return _result(
        "Divides by the count of all numbers.",
        r"\frac{q \cdot k}{\sqrt{d_k}} \;\neq\; \frac{q \cdot k}{\sqrt{n\, d_k}}",
        "The count of all numbers grows with the sentence: the longer it is, the more alike the "
        "weights.",
        (
            f"scale = queries.shape[-1] ** -0.5  # {counts['d_k']} numbers in each query\n"
            "weights = (scores * scale).softmax(dim=-1)",
            f"scale = queries.numel() ** -0.5  # {counts['all numbers']} numbers in all\n"
            "weights = (scores * scale).softmax(dim=-1)",
        ),
        (_shares(case, "by d_k", right), _shares(case, "by all numbers", wrong)),
        weight_rounding(case.x, W_q, W_k),
        [
            *case.given(W_q=W_q, W_k=W_k),
            case.matrix("Q", queries),
            case.matrix("K", keys),
        ],
    )


def _tanh(case: Case) -> ClaimResult:
    """Leaves the tanh out of additive attention."""
    x = case.x
    W_q, W_k, _, v = case.parameters((case.d_k,))
    right = additive_scores(x, x, W_q, W_k, v).softmax(-1)
    wrong = ((x @ W_q @ v)[:, None] + (x @ W_k @ v)).softmax(-1)
    return _result(
        "Leaves out the tanh of additive attention.",
        r"(q_i W_q + k_j W_k)\, v = \underbrace{q_i W_q\, v}_{\text{the same for all } j}"
        r" + \;k_j W_k\, v",
        "Without the tanh, a query adds the same number to all of its scores, which the softmax "
        "takes away again: every query gets the same weights.",
        (
            "hidden = (q[:, None] @ W_q + k[None] @ W_k).tanh()\n"
            "weights = (hidden @ v).softmax(dim=-1)",
            "hidden = q[:, None] @ W_q + k[None] @ W_k\nweights = (hidden @ v).softmax(dim=-1)",
        ),
        (_shares(case, "with tanh", right), _shares(case, "without tanh", wrong)),
        rounding(x, W_q, v[:, None]) + rounding(x, W_k, v[:, None]),
        [*case.given(W_q=W_q, W_k=W_k), Matrix("v", v[:, None])],
    )


MISTAKES: dict[str, Callable[[Case], ClaimResult]] = {
    "values": _values,
    "fill": _fill,
    "count": _count,
    "tanh": _tanh,
}
