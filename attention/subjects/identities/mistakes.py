"""Common mistakes in attention code, each beside the right result."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from attention.core import masks
from attention.core.functional import additive_scores, attend, dot_scores, masked_softmax
from attention.core.printing import percent
from attention.figures.matrix import Matrix
from attention.figures.tables import number, typed
from attention.subjects.identities.claim import (
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

FINITE = -1e9
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
    more: Sequence[Row | Table],
    given: Sequence[Matrix],
    checks: Sequence[Check] = (),
) -> ClaimResult:
    """Result of a mistake; checks: further ones, whose sides are shown in `more`."""
    right, wrong = results
    shown: list[Row | Table | Codes] = [Codes(dict(zip(("Right", "Wrong"), codes, strict=True)))]
    shown += [compared("The right result, the wrong one, and what is between.", right, wrong)]
    check = Check(f"{right.name} and {wrong.name}", right, wrong, allowed, equal=False)
    return ClaimResult(says, formula, why, [*shown, *more], [check, *checks], given)


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
        "The values are made, then forgotten: the sum runs over x. The shapes fit wherever values "
        "are as wide as x, so nothing complains. W_v gets no gradient and never learns.",
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
    """Fills masked scores with a number where −∞ was meant."""
    W_q, W_k, _ = case.parameters()
    n = len(case.x)
    valid = max(n - case.pads, 1)
    mask = masks.lengths(torch.tensor([valid]), n)[0].expand(n, n)
    scaled = attend(case.x @ W_q, case.x @ W_k, case.x).scaled
    right = masked_softmax(scaled, mask)
    wrong = scaled.masked_fill(~mask, case.fill).softmax(-1)
    filled = f"filled with {typed(case.fill)}"
    padding = {
        name: weights[:, valid:].double().sum(-1)
        for name, weights in (("filled with −∞", right), (filled, wrong))
    }
    table = Table(
        f"The weight each query gives to padding, here the last {n - valid} of {n} tokens.",
        [*case.names, "mean"],
        {name: [*sums.tolist(), float(sums.mean())] for name, sums in padding.items()},
    )
    code = repr(case.fill).removesuffix(".0")
    power = number(math.exp(case.fill)) if case.fill < LARGEST_POWER else "beyond all bounds"
    return _result(
        f"Fills masked scores with {typed(case.fill)}.",
        r"e^{-\infty} = 0 \qquad\text{but}\qquad e^{s} > 0 \;\text{ for every number } s",
        f"A score of {typed(case.fill)} is a score like others: its exponential, {power}, counts "
        "beside those of the words. "
        + (
            f"Padding keeps up to {percent(float(padding[filled].max()), 1)} of a query’s weight "
            "here, so a sentence’s result changes with the padding behind it."
            if float(padding[filled].max()) > 0
            else "Here it is too small for float32 to tell from 0."
            if n > valid
            else "Here no token is padding."
        ),
        (
            "scores = scores.masked_fill(~mask, -torch.inf)\nweights = scores.softmax(dim=-1)",
            f"scores = scores.masked_fill(~mask, {code})\nweights = scores.softmax(dim=-1)",
        ),
        (_shares(case, "filled with −∞", right), _shares(case, filled, wrong)),
        0.0,
        [table],
        [*case.given(W_q=W_q, W_k=W_k), case.matrix("scores", scaled, square=True)],
    )


def _finite(case: Case) -> ClaimResult:
    """Fills masked scores with −10⁹: right, but for rows with nothing to attend to."""
    W_q, W_k, _ = case.parameters()
    n = len(case.x)
    valid = max(n - case.pads, 1)
    real = torch.arange(n) < valid
    mask = real[:, None] & real
    scaled = attend(case.x @ W_q, case.x @ W_k, case.x).scaled
    right, wrong = masked_softmax(scaled, mask), scaled.masked_fill(~mask, FINITE).softmax(-1)

    def both(rows: slice) -> tuple[Matrix, Matrix]:
        names = case.names[rows]
        return (
            Matrix("filled with −∞", right[rows], names, case.names, kind="share"),
            Matrix("filled with −10⁹", wrong[rows], names, case.names, kind="share"),
        )

    left, other = both(slice(valid))
    shown: list[Row | Table | Codes] = [
        Codes(
            {
                "Right": "scores = scores.masked_fill(~mask, -torch.inf)\n"
                "weights = scores.softmax(dim=-1)\n"
                "nothing = ~mask.any(-1, keepdim=True)\n"
                "weights = weights.masked_fill(nothing, 0)",
                "Wrong": "scores = scores.masked_fill(~mask, -1e9)\n"
                "weights = scores.softmax(dim=-1)",
            }
        ),
        compared("Queries with something to attend to: no weight differs.", left, other),
    ]
    checks = [Check("queries with something to attend to", left, other, 0.0)]
    if valid < n:
        left, other = both(slice(valid, n))
        caption = "Queries that are padding themselves, with nothing to attend to."
        shown.insert(1, compared(caption, left, other))
        checks.insert(0, Check("queries with nothing to attend to", left, other, 0.0, equal=False))
    return ClaimResult(
        "Fills masked scores with −10⁹.",
        r"\frac{e^{-10^9 - m}}{\sum_j e^{s_j - m}} = 0 \;\text{ in float32, unless all }\; "
        r"s_j = -10^9",
        "−10⁹ is so far below any real score that its exponential is 0 in float32: the weights are "
        "those of −∞. But where every key is hidden, all scores are the same −10⁹. The softmax "
        "then shares the weight equally among forbidden keys, and nothing complains. Float16 "
        "cannot hold −10⁹ at all.",
        shown,
        checks,
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
        "Divides by the count of all numbers.",
        r"\frac{q \cdot k}{\sqrt{d_k}} \;\neq\; \frac{q \cdot k}{\sqrt{n\, d_k}}",
        "The count of all numbers grows with the sentence. So scores shrink and weights even out: "
        "the longer the sentence, the less attention can choose.",
        (
            f"scale = queries.shape[-1] ** -0.5  # {counts['d_k']} numbers in each query\n"
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
        "Leaves out the tanh of additive attention.",
        r"(q_i W_q + k_j W_k)\, v = \underbrace{q_i W_q\, v}_{\text{the same for all } j}"
        r" + \;k_j W_k\, v",
        "Without the tanh, a query only adds the same number to all of its scores. The softmax "
        "takes that away again, so every query gets the same weights.",
        (
            "hidden = (q[:, None] @ W_q + k[None] @ W_k).tanh()\n"
            "weights = (hidden @ v).softmax(dim=-1)",
            "hidden = q[:, None] @ W_q + k[None] @ W_k\nweights = (hidden @ v).softmax(dim=-1)",
        ),
        (_shares(case, "with tanh", right), _shares(case, "without tanh", wrong)),
        rounding(x, W_q, v[:, None]) + rounding(x, W_k, v[:, None]),
        [
            Table(
                "How much two queries’ weights for one key differ at most.",
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
        "Takes the softmax over the queries.",
        r"\sum_j w_{ij} = 1 \qquad\text{and not}\qquad \sum_i w_{ij} = 1",
        "A query’s weights must add up to 1: along the keys, the last dimension. Along the queries "
        "each key shares itself out instead. A query’s weights then add up to anything, and its "
        "output grows or shrinks with them.",
        ("weights = scores.softmax(dim=-1)", "weights = scores.softmax(dim=-2)"),
        (_shares(case, "over the keys", right), _shares(case, "over the queries", wrong)),
        0.0,
        [Table("What each query’s weights add up to.", list(case.names), sums)],
        [*case.given(W_q=W_q, W_k=W_k), case.matrix("scores", scaled, square=True)],
    )


def _order(case: Case) -> ClaimResult:
    """Multiplies X X by (W_q W_k)ᵀ, as if factors of a product could change places."""
    n, d_model = case.x.shape
    m = min(n, d_model)
    x, names = case.x[:m, :m], case.names[:m]
    *_, W_q, W_k = case.parameters((m, m), (m, m))
    right = Matrix("(X W_q)(X W_k)ᵀ", (x @ W_q) @ (x @ W_k).T, names, names)
    regrouped = Matrix("X (W_q W_kᵀ) Xᵀ", x @ (W_q @ W_k.T) @ x.T, names, names)
    wrong = Matrix("(X X)(W_q W_k)ᵀ", (x @ x) @ (W_q @ W_k).T, names)
    d_k = case.d_k
    products = {
        "X W_q": ((n, d_model), (d_model, d_k)),
        "(X W_q)(X W_k)ᵀ": ((n, d_k), (d_k, n)),
        "X X": ((n, d_model), (n, d_model)),
        "W_q W_k": ((d_model, d_k), (d_model, d_k)),
    }
    shapes: dict[str, list[float | str | None]] = {
        "shapes": [" times ".join(f"{a} × {b}" for a, b in pair) for pair in products.values()],
        "inner sizes": [
            "meet" if left[1] == right[0] else f"{left[1]} and {right[0]} do not meet"
            for left, right in products.values()
        ],
    }
    allowed = rounding(x, W_q, W_k.T, x.T)
    return _result(
        "Multiplies in another order.",
        r"(X W_q)(X W_k)^\top = X W_q\, W_k^\top X^\top \;\neq\; (X X)(W_q W_k)^\top",
        "A product may be grouped in another way, but its factors may not change places. A "
        "transpose turns their order round: (X W_k)ᵀ is W_kᵀ Xᵀ. Mostly the shapes give the "
        "mistake away; where all matrices are square, nothing complains. So here X is cut to its "
        f"first {m} rows and columns, and W_q and W_k are {m} × {m}.",
        (
            "scores = (x @ W_q) @ (x @ W_k).T",
            "scores = (x @ x) @ (W_q @ W_k).T",
        ),
        (right, wrong),
        allowed + rounding(x, x, W_k.T, W_q.T),
        [
            compared("Grouped in another way: the same scores.", right, regrouped),
            Table(
                f"Not cut, with n = {n}, d_model = {d_model} and d_k = {d_k}.",
                list(products),
                shapes,
            ),
        ],
        [Matrix("X", x, names), Matrix("W_q", W_q), Matrix("W_k", W_k)],
        [Check(f"{right.name} and {regrouped.name}", right, regrouped, allowed)],
    )


def _exchange(case: Case) -> ClaimResult:
    """Makes queries by W_k and keys by W_q."""
    x = case.x
    W_q, W_k, _ = case.parameters()
    scores, exchanged = dot_scores(x @ W_q, x @ W_k), dot_scores(x @ W_k, x @ W_q)
    right = case.matrix("(X W_q)(X W_k)ᵀ", scores, square=True)
    wrong = case.matrix("(X W_k)(X W_q)ᵀ", exchanged, square=True)
    turned = case.matrix("((X W_q)(X W_k)ᵀ)ᵀ", scores.T, square=True)
    root = math.sqrt(case.d_k)
    weights = _shares(case, "weights", (scores / root).softmax(-1))
    others = _shares(case, "weights, exchanged", (exchanged / root).softmax(-1))
    return _result(
        "Makes queries by W_k and keys by W_q.",
        r"(X W_k)(X W_q)^\top = \bigl((X W_q)(X W_k)^\top\bigr)^\top",
        "Every score moves to the mirrored cell: what “a” asks “b” becomes what “b” asks “a”. The "
        "shapes are the same, so nothing complains. A model trained this way simply learns the "
        "names the other way round; with trained weights, all questions are read as answers. The "
        "weights are not mirrored: the softmax still shares each row.",
        (
            "queries, keys = x @ W_q, x @ W_k\nscores = queries @ keys.T",
            "queries, keys = x @ W_k, x @ W_q\nscores = queries @ keys.T",
        ),
        (right, wrong),
        rounding(x, W_q, W_k.T, x.T),
        [
            compared("Transposed, the right scores are the wrong ones.", turned, wrong),
            compared("What the softmax makes of both.", weights, others),
        ],
        case.given(W_q=W_q, W_k=W_k),
        [
            Check("the scores transposed", turned, wrong, rounding(x, W_q, W_k.T, x.T)),
            Check("the weights", weights, others, weight_rounding(x, W_q, W_k), equal=False),
        ],
    )


MISTAKES: dict[str, Callable[[Case], ClaimResult]] = {
    "values": _values,
    "fill": _fill,
    "finite": _finite,
    "count": _count,
    "tanh": _tanh,
    "dim": _dim,
    "order": _order,
    "exchange": _exchange,
}
