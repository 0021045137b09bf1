"""Common mistakes in attention code, each beside the right result."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from attention.claims.claim import (
    Case,
    Check,
    ClaimResult,
    Codes,
    Row,
    Table,
    compared,
    output_rounding,
    rounding,
    weight_rounding,
)
from attention.core import masks
from attention.core.functional import additive_scores, attend, dot_scores, masked_softmax
from attention.display.matrix import Matrix

WEIGHTS = "scores = queries @ keys.T / d_k ** 0.5\nweights = scores.softmax(dim=-1)\n"


def mistake(case: Case) -> ClaimResult:
    """The chosen mistake, one of `MISTAKES`. Raises ValueError for another."""
    if case.mistake not in MISTAKES:
        raise ValueError(f"mistake must be one of {', '.join(MISTAKES)}, got {case.mistake!r}")
    return MISTAKES[case.mistake](case)


def _result(
    formula: str,
    why: str,
    codes: tuple[str, str],
    results: tuple[Matrix, Matrix],
    allowed: float,
    tables: Sequence[Table],
    given: Sequence[Matrix],
) -> ClaimResult:
    right, wrong = results
    shown: list[Row | Table | Codes] = [Codes(dict(zip(("Right", "Wrong"), codes, strict=True)))]
    shown += [compared("The right result, the wrong one, and what is between.", right, wrong)]
    check = Check(f"{right.name} and {wrong.name}", right, wrong, allowed, equal=False)
    return ClaimResult(formula, why, [*shown, *tables], [check], given)


def _shares(case: Case, name: str, weights: Tensor) -> Matrix:
    return Matrix(name, weights, case.names, case.names, kind="share")


def _values(case: Case) -> ClaimResult:
    """Averages x where v was meant."""
    x, d_model = case.x, case.x.shape[1]
    W_q, W_k, _, W_v = case.parameters((d_model, d_model))
    weights = attend(x @ W_q, x @ W_k, x).weights
    right, wrong = weights @ (x @ W_v), weights @ x
    return _result(
        r"y_i = \sum_j w_{ij}\, x_j W_v \;\neq\; \sum_j w_{ij}\, x_j",
        "The value matrix is made, then forgotten: the sum runs over x. The shapes fit wherever "
        "values are as wide as x, so nothing complains; W_v gets no gradient and never learns.",
        (
            f"values = x @ W_v\n{WEIGHTS}output = weights @ values",
            f"values = x @ W_v\n{WEIGHTS}output = weights @ x",
        ),
        (case.matrix("A (X W_v)", right), case.matrix("A X", wrong)),
        output_rounding(x, W_q, W_k, W_v),
        [],
        [*case.given(W_q=W_q, W_k=W_k, W_v=W_v), _shares(case, "A", weights)],
    )


def _fill(case: Case) -> ClaimResult:
    """Fills masked scores with 0 where −∞ was meant."""
    W_q, W_k, _ = case.parameters()
    n = len(case.x)
    valid = max(n - case.pads, 1)
    mask = masks.lengths(torch.tensor([valid]), n)[0].expand(n, n)
    scaled = attend(case.x @ W_q, case.x @ W_k, case.x).scaled
    right = masked_softmax(scaled, mask)
    wrong = scaled.masked_fill(~mask, 0.0).softmax(-1)
    padding = {
        name: weights[:, valid:].double().sum(-1)
        for name, weights in (("filled with −∞", right), ("filled with 0", wrong))
    }
    table = Table(
        f"The weight each query gives to padding, here the last {n - valid} of {n} tokens.",
        [*case.names, "mean"],
        {name: [*sums.tolist(), float(sums.mean())] for name, sums in padding.items()},
    )
    return _result(
        r"e^{-\infty} = 0 \qquad\text{but}\qquad e^{0} = 1",
        "A score of 0 is no low score: its exponential is 1, often more than a real word gets. "
        "Padding keeps weight, and the result of a sentence changes with the padding behind it.",
        (
            "scores = scores.masked_fill(~mask, -torch.inf)\nweights = scores.softmax(dim=-1)",
            "scores = scores.masked_fill(~mask, 0)\nweights = scores.softmax(dim=-1)",
        ),
        (_shares(case, "filled with −∞", right), _shares(case, "filled with 0", wrong)),
        0.0,
        [table],
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
    greatest = {
        name: weights.amax(-1).tolist() for name, weights in (("right", right), ("wrong", wrong))
    }
    return _result(
        r"\frac{q \cdot k}{\sqrt{d_k}} \;\neq\; \frac{q \cdot k}{\sqrt{n\, d_k}}",
        "The count of all numbers grows with the sentence, so the scores shrink and the weights "
        "even out: the longer the sentence, the less attention can choose.",
        (
            f"scale = queries.shape[-1] ** -0.5  # {counts['d_k']} numbers a query\n"
            "weights = (scores * scale).softmax(dim=-1)",
            f"scale = queries.numel() ** -0.5  # {counts['all numbers']} numbers in all\n"
            "weights = (scores * scale).softmax(dim=-1)",
        ),
        (_shares(case, "by d_k", right), _shares(case, "by all numbers", wrong)),
        weight_rounding(case.x, W_q, W_k),
        [Table("The greatest weight of each query.", list(case.names), greatest)],
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
    apart = {
        name: [float((weights.amax(0).double() - weights.amin(0).double()).max())]
        for name, weights in (("right", right), ("wrong", wrong))
    }
    return _result(
        r"v^\top (q_i W_q + k_j W_k) = \underbrace{v^\top q_i W_q}_{\text{the same for all } j}"
        r" + \;v^\top k_j W_k",
        "Without the tanh the query only adds the same number to all of its scores, and the "
        "softmax takes that away again: every query gets the same weights.",
        (
            "hidden = (q[:, None] @ W_q + k[None] @ W_k).tanh()\n"
            "weights = (hidden @ v).softmax(dim=-1)",
            "hidden = q[:, None] @ W_q + k[None] @ W_k\nweights = (hidden @ v).softmax(dim=-1)",
        ),
        (_shares(case, "with tanh", right), _shares(case, "without tanh", wrong)),
        rounding(x, W_q, v[:, None]) + rounding(x, W_k, v[:, None]),
        [
            Table(
                "How far apart two queries’ weights for the same key are at most.",
                ["greatest difference"],
                apart,
            )
        ],
        [*case.given(W_q=W_q, W_k=W_k), Matrix("v", v[:, None])],
    )


def _dim(case: Case) -> ClaimResult:
    """Takes the softmax over the queries where the keys were meant."""
    W_q, W_k, _ = case.parameters()
    scaled = dot_scores(case.x @ W_q, case.x @ W_k) / math.sqrt(case.d_k)
    right, wrong = scaled.softmax(-1), scaled.softmax(-2)
    sums = {
        name: weights.double().sum(-1).tolist()
        for name, weights in (("over the keys", right), ("over the queries", wrong))
    }
    return _result(
        r"\sum_j w_{ij} = 1 \qquad\text{and not}\qquad \sum_i w_{ij} = 1",
        "Weights must sum to 1 along the keys, the last dimension. Along the queries, each key "
        "shares itself out instead: a query’s weights sum to anything, and its output grows or "
        "shrinks with it.",
        ("weights = scores.softmax(dim=-1)", "weights = scores.softmax(dim=-2)"),
        (_shares(case, "over the keys", right), _shares(case, "over the queries", wrong)),
        0.0,
        [Table("What each query’s weights sum to.", list(case.names), sums)],
        [*case.given(W_q=W_q, W_k=W_k), case.matrix("scores", scaled, square=True)],
    )


MISTAKES: dict[str, Callable[[Case], ClaimResult]] = {
    "values": _values,
    "fill": _fill,
    "count": _count,
    "tanh": _tanh,
    "dim": _dim,
}
