"""The step that makes weights of scores, as the layer says it."""

from __future__ import annotations

from typing import Literal

import torch

from attention.core.weighing import SOFTMAX
from attention.figures.matrix import Matrix
from attention.figures.tables import number
from attention.figures.working import Working
from attention.subjects.play.how.step import Computation, Step


def weights_step(done: Computation) -> Step:
    """The weights, of the scores that are left, times how strongly each key is written."""
    trace, queries, names = done.trace, done.rows("q"), done.rows("k")
    weighing, mask, strength = trace.weighing, trace.mask, trace.strength
    lit: Literal["row", "cell"] = "row" if weighing.shares else "cell"
    parts: list[Matrix | str] = [
        Matrix("masked", trace.logits, queries, names, allowed=mask, lights=lit)
    ]
    left, symbol = "m_{ij}", "β" if done.layer.erases else "Δ"
    if trace.erased is not None:
        erased = Matrix("erased", trace.erased, queries, names, allowed=mask, lights="cell")
        parts = [erased, "+", *parts]
        left = "(m_{ij} + e_{ij})"
    if strength is not None:
        parts += ["×", Matrix(symbol, strength.mT, (symbol,), names, lights="column")]
        left += r"\,\beta_j" if done.layer.erases else r"\,\Delta_j"
    kind: Literal["share", "signed"] = "signed" if weighing.signed else "share"
    softmax = weighing == SOFTMAX
    return Step(
        weighing.formula.replace("m_{ij}", left),
        weighing.sentence,
        [*parts, "→", Matrix("weights", trace.weights, queries, names, kind=kind, allowed=mask)],
        lambda row, column: (_exponentials if softmax else _weighed)(done, row, column, symbol),
    )


def _seen(done: Computation, row: int) -> list[int]:
    """Positions of the keys that a query may look at."""
    mask = done.trace.mask
    keys = range(len(done.rows("k")))
    return [*keys] if mask is None else [key for key in keys if mask[row, key]]


def _exponentials(done: Computation, row: int, column: int, symbol: str) -> Working:
    """Working of a weight as an exponential over the sum of its row."""
    trace, query, names = done.trace, done.rows("q")[row], done.rows("k")
    keys = _seen(done, row)
    if not keys:
        return Working(f"“{query}” may look at nothing: all its weights are 0.", ())
    scores = trace.logits[row, keys]
    powers = (scores - scores.max()).exp()
    total = number(float(powers.double().sum()))
    shown = number(float(trace.weights[row, column]))
    why = "" if column in keys else ", since it is hidden"
    return Working(
        f"“{query}” to “{names[column]}”: {shown}{why}, its exponential over the sum of "
        f"the row, {total}.",
        [names[key] for key in keys],
        {
            "masked": scores.tolist(),
            "exp(masked − greatest)": powers.tolist(),
            "weight": trace.weights[row, keys].tolist(),
        },
        "sum",
        float(trace.weights[row].double().sum()),
    )


def _weighed(done: Computation, row: int, column: int, symbol: str) -> Working:
    """Working of a weight by the factors that its layer tells, or by how its key is written."""
    trace, keys = done.trace, _seen(done, row)
    pair = f"“{done.rows('q')[row]}” to “{done.rows('k')[column]}”"
    if column not in keys:
        return Working(f"{pair}: hidden, so the weight is 0.", ())
    left = trace.logits[row] if trace.erased is None else trace.logits[row] + trace.erased[row]
    strength = torch.ones_like(left) if trace.strength is None else trace.strength[:, 0]
    scores, made = left * strength, float(trace.weights[row, column])
    factors = done.layer.weight_factors(scores[keys], keys.index(column))
    if factors:
        return Working(f"{pair}.", [*factors], {"number": [*factors.values()]}, "product", made)
    if made != float(scores[column]):
        return Working(f"{pair}: {number(float(scores[column]))} becomes {number(made)}.", ())
    if trace.strength is None:
        return Working(f"{pair}: the score stays, {number(made)}.", ())
    terms = {"number": [float(left[column]), float(strength[column])]}
    words = f"{pair}: what is left of the score, times {symbol} of the key."
    return Working(words, ("left", symbol), terms, "product", made)
