"""The steps from scores to the output."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import torch
from torch import Tensor

from attention.core.functional import merge_heads
from attention.core.variants import DotScores
from attention.figures.captions import cell_words
from attention.figures.matrix import Matrix
from attention.figures.tables import number
from attention.figures.working import Working
from attention.subjects.play.how.step import (
    REFINED,
    Computation,
    Step,
    dimension_names,
    symbol_of,
    with_bias,
)

SCALE = {
    True: "The scale decides how much differences between scores count.",
    False: "There is no softmax here: the scale is a factor of all scores alike.",
}
ZERO = "There is no softmax here, so a hidden score becomes 0, which is no weight."


def scores_step(done: Computation) -> Step:
    """Every query meets every key."""
    trace, queries, keys = done.trace, done.rows("q"), done.rows("k")
    result = Matrix("scores", trace.scores, queries, keys)
    last_query, last_key = ([*done.forms(role)][-1] for role in ("queries", "keys"))

    def working(row: int, column: int) -> Working:
        with torch.no_grad():
            terms = done.layer.score_terms(trace.queries[row], trace.keys[column])
        score = float(trace.scores[row, column])
        pair = f"How well the query “{queries[row]}” matches the key “{keys[column]}”"
        if not terms:
            return Working(f"{pair}: {number(score)}.", ())
        columns = {name: numbers.tolist() for name, numbers in terms.items()}
        length = len(next(iter(columns.values())))
        return Working(f"{pair}, term by term.", dimension_names(length), columns, "sum", score)

    formula = done.layer.formula.split(r"\\")[0]
    if last_query in REFINED and isinstance(done.layer, DotScores):
        formula = r"s_{ij} = q_i \cdot k_j"
    return Step(
        formula,
        "Every query meets every key, and one number says how well they match.",
        [
            Matrix(symbol_of(last_query), trace.queries, queries, lights="row"),
            "and",
            Matrix(symbol_of(last_key), trace.keys, keys, lights="row of the column"),
            "→",
            result,
        ],
        working,
    )


def scaled_step(done: Computation) -> Step:
    """The scores times the scale, and what positions add."""
    trace, queries, keys = done.trace, done.rows("q"), done.rows("k")
    bias, learned = trace.bias, done.layer.has_bias

    def working(row: int, column: int) -> Working:
        score, scaled = float(trace.scores[row, column]), float(trace.scaled[row, column])
        pair = f"“{queries[row]}” to “{keys[column]}”"
        if bias is None:
            terms = {"number": [score, trace.scale]}
            words = f"{pair}: the score times the scale."
            return Working(words, ("score", "scale"), terms, "product", scaled)
        product, added = float(trace.scores[row, column] * trace.scale), float(bias[row, column])
        why = "plus the bias of their distance" if learned else "minus the distance times the slope"
        return Working(
            f"{pair}: {number(score)} × {trace.scale:.6g}, {why}.",
            ("score × scale", "bias" if learned else "− slope × distance"),
            {"number": [product, added]},
            "sum",
            scaled,
        )

    parts: list[Matrix | str] = [
        Matrix("scores", trace.scores, queries, keys, lights="cell"),
        f"× {trace.scale:.4g} =",
        Matrix("scaled", trace.scaled, queries, keys),
    ]
    if bias is not None:
        parts[1:2] = [
            f"× {trace.scale:.4g} +",
            Matrix("bias" if learned else "−slope·distance", bias, queries, keys, lights="cell"),
            "=",
        ]
    term = "" if bias is None else " + b_{j-i}" if learned else r" - m\,|i-j|"
    return Step(
        rf"s'_{{ij}} = {trace.scale:.6g}\; s_{{ij}}" + term,
        SCALE[not done.layer.keeps_state],
        parts,
        working,
    )


def masked_step(done: Computation) -> Step:
    """Mask what each query may not see."""
    trace, queries, keys = done.trace, done.rows("q"), done.rows("k")
    mask, name, zero = trace.mask, trace.weighing.name, trace.weighing.hides_by_zero
    becomes = f"A hidden score becomes −∞, not 0: the {name} turns −∞ into exactly no weight."
    result = Matrix("masked", trace.logits, queries, keys, allowed=mask)

    def working(row: int, column: int) -> Working:
        pair = f"The query “{queries[row]}” and the key “{keys[column]}”"
        if mask is not None and not mask[row, column]:
            hidden = cell_words(done.masks, row, column) or "hidden"
            gets = "its weight is 0" if zero else f"the {name} gets −∞ and the weight is 0"
            return Working(f"{pair}: {hidden}, so {gets}.", ())
        kept = result.write(float(trace.logits[row, column]))
        return Working(f"{pair}: not hidden, the score stays {kept}.", ())

    return Step(
        r"m_{ij} = \begin{cases} s'_{ij} & \text{if } i \text{ may look at } j \\"
        + (" 0" if zero else r" -\infty")
        + r" & \text{otherwise} \end{cases}",
        ZERO if zero else becomes,
        [
            Matrix(trace.logits_name, trace.logits, queries, keys, lights="cell"),
            "→",
            result,
        ],
        working,
    )


def dropout_step(done: Computation) -> Step:
    """Weights dropped as in training."""
    trace, queries, names = done.trace, done.rows("q"), done.rows("k")
    before = trace.weights if trace.mixed_weights is None else trace.mixed_weights
    after = trace.applied
    growth = 1 / (1 - done.dropout)
    there = before != 0  # of a weight of 0 nothing says whether it was dropped
    kept = (after != 0).to(before.dtype)
    b = Matrix("b", kept, queries, names, allowed=there, lights="cell")
    drawn: list[Matrix | str] = [f"× {growth:.4g} ×", b] if done.dropout else []

    def working(row: int, column: int) -> Working:
        weights, dropped = before[row].tolist(), after[row].tolist()
        fate = [
            "—" if not before else "kept" if left else "dropped"
            for before, left in zip(weights, dropped, strict=True)
        ]
        return Working(
            f"The row of “{queries[row]}”: what is kept grows by 1 / (1 − {done.dropout:g}), so "
            "that on average over many draws the row sums to what it did.",
            list(names),
            {"weight": weights, "": fate, "after dropout": dropped},
            "sum",
            float(after[row].double().sum()),
        )

    return Step(
        r"\begin{gathered} \tilde w_{ij} = \frac{b_{ij}}{1-p}\, w_{ij} \\ "
        r"b_{ij} \sim \text{Bernoulli}(1-p) \end{gathered}",
        "In training each weight is dropped with probability p, so that a model does not rely on "
        "single keys.",
        [
            Matrix(_name(done), before, queries, names, kind=_kind(done), lights="cell"),
            *drawn,
            "→",
            Matrix("after dropout", after, queries, names, kind=_kind(done)),
        ],
        working,
    )


def output_step(done: Computation) -> Step:
    """The values, each times its weight, added up: the output of one head."""
    trace, names, outputs = done.trace, done.rows("v"), done.rows("y")
    weights = trace.applied
    name = _name(done) if trace.dropped is None else "after dropout"

    def working(row: int, column: int) -> Working:
        left, right = weights[row], trace.values[:, column]
        return Working(
            f"y of “{outputs[row]}”, dimension {column}: each value's number times its weight.",
            list(names),
            {
                "weight": left.tolist(),
                "v": right.tolist(),
                "product": (left * right).tolist(),
            },
            "sum",
            float(trace.output[row, column]),
        )

    return Step(
        r"y_i = \sum_j w_{ij}\, v_j"
        if trace.dropped is None
        else r"y_i = \sum_j \tilde w_{ij}\, v_j",
        "Multiply each value by its weight, then add them all up: that is the new vector.",
        [
            Matrix(name, weights, done.rows("q"), done.rows("k"), kind=_kind(done), lights="row"),
            "×",
            Matrix("V", trace.values, names, lights="column"),
            "=",
            Matrix("Y", trace.output, outputs),
        ],
        working,
    )


def joined_step(done: Computation) -> Step:
    """All heads side by side, through W_o: the output of the layer."""
    layer, names = done.layer, done.names
    W, b = layer.projection("output")
    assert W is not None
    weight, bias = W.detach(), None if b is None else b.detach()
    with torch.no_grad():
        joined, output = merge_heads(done.layer_trace.output), layer.output(done.layer_trace)
    d_v = done.trace.output.shape[-1]
    parts: list[Matrix | str] = [
        Matrix("all heads", joined, names, lights="row"),
        "×",
        Matrix("W_o", weight, lights="column"),
    ]
    if bias is not None:
        parts += ["+", Matrix("b_o", bias[None], ("bias",))]

    def working(row: int, column: int) -> Working:
        left, right = joined[row], weight[:, column]
        parts = [f"head {at // d_v}, dimension {at % d_v}" for at in range(len(left))]
        columns: dict[str, list[float | str]] = {
            "heads": [*left.tolist()],
            "W_o": [*right.tolist()],
            "product": [*(left * right).tolist()],
        }
        with_bias(parts, columns, bias, column)
        words = f"The layer's output for “{names[row]}”, dimension {column}, from all heads."
        return Working(words, parts, columns, "sum", float(output[row, column]))

    return Step(
        r"Y = [\,Y^0 \;\cdots\; Y^{H-1}\,]\; W_o" + (" + b_o" if bias is not None else ""),
        "The outputs of all heads stand side by side, and one matrix turns them into the output of "
        "the layer.",
        [*parts, "=", Matrix("Y of the layer", output, names)],
        working,
    )


def mixed_scores_step(done: Computation) -> Step:
    """Mix the scaled scores of the heads before the softmax."""
    return _mixed_step(
        done,
        r"s''^{\,h}_{ij} = \sum_f s'^{\,f}_{ij}\; P_l^{fh}",
        "Before the softmax the heads talk: each adds up the scores of all heads for the same "
        "query and key, times the numbers of its column of P_l.",
        "scaled",
        "mixed",
        done.layer.mixed_score_terms,
    )


def mixed_weights_step(done: Computation) -> Step:
    """Mix the weights of the heads after the softmax."""
    return _mixed_step(
        done,
        r"u^{h}_{ij} = \sum_g w^{g}_{ij}\; P_w^{gh}",
        "After the softmax the heads talk again: each adds up the weights of all heads, times the "
        "numbers of its column of P_w.",
        "weights",
        "mixed weights",
        done.layer.mixed_weight_terms,
    )


def _mixed_step(
    done: Computation,
    formula: str,
    why: str,
    before: str,
    after: str,
    terms_of: Callable[[Tensor, int], dict[str, Tensor]],
) -> Step:
    names, head = done.names, done.head
    made = done.trace.stages[before]
    mixed = done.trace.mixed_scores if before == "scaled" else done.trace.mixed_weights
    assert mixed is not None

    def working(row: int, column: int) -> Working:
        with torch.no_grad():
            all_heads = done.layer_trace.query(row).stages[before]
            terms = terms_of(all_heads[:, 0, column], head)
        total = float(mixed[row, column])
        cell = f"“{names[row]}” to “{names[column]}” in head {head}"
        if not terms:
            return Working(f"{cell}: {number(total)}.", ())
        columns = {name: numbers.tolist() for name, numbers in terms.items()}
        length = len(next(iter(columns.values())))
        heads = [f"head {index}" for index in range(length)]
        return Working(f"{cell}, from all heads.", heads, columns, "sum", total)

    kind: Literal["signed", "share"] = "signed" if before == "scaled" else "share"
    return Step(
        formula,
        why,
        [
            Matrix(f"{before}, head {head}", made, names, names, kind, lights="cell"),
            "→",
            Matrix(f"{after}, head {head}", mixed, names, names),
        ],
        working,
    )


def _name(done: Computation) -> str:
    """The name of the weights before dropout."""
    return "weights" if done.trace.mixed_weights is None else "mixed weights"


def _kind(done: Computation) -> Literal["signed", "share"]:
    """Kind of colours of weights, which lie below 0 also where they were mixed across heads."""
    signed = done.trace.weighing.signed or done.trace.mixed_weights is not None
    return "signed" if signed else "share"
