"""The steps before the weights of a layer that keeps a state: what it forgets and takes back."""

from __future__ import annotations

import torch

from attention.figures.matrix import Matrix
from attention.figures.tables import number
from attention.figures.working import Working
from attention.subjects.play.how.step import Computation, Step


def decayed_step(done: Computation) -> Step:
    """The scaled scores times what is left of each key when the query reads."""
    trace, queries, keys = done.trace, done.rows("q"), done.rows("k")
    each = trace.decay is not None and trace.decay.shape[-1] > 1

    def working(row: int, column: int) -> Working:
        scaled, left = (float(made[row, column]) for made in (trace.scaled, trace.logits))
        pair = f"“{queries[row]}” to “{keys[column]}”"
        if trace.mask is not None and not trace.mask[row, column]:
            return Working(f"{pair}: hidden.", ())
        if each or not scaled:
            return Working(f"{pair}: {number(scaled)} becomes {number(left)}.", ())
        words = f"{pair}: the scaled score times what is left of the key."
        terms = {"number": [scaled, left / scaled]}
        return Working(words, ("scaled", "left of it"), terms, "product", left)

    return Step(
        r"s''_{ij} = s'_{ij} \prod_{j<t\le i} \alpha_t"
        if not each
        else r"s''_{ij} = c \textstyle\sum_d q_{id}\, k_{jd} \prod_{j<t\le i} \alpha_{td}",
        "With each token that comes after a key, less is left of it.",
        [
            Matrix("scaled", trace.scaled, queries, keys, lights="cell"),
            "× left =",
            Matrix("decayed", trace.logits, queries, keys, allowed=trace.mask),
        ],
        working,
    )


def erased_step(done: Computation) -> Step:
    """The part of each score that later keys take back."""
    trace, queries, names = done.trace, done.rows("q"), done.rows("k")
    erased, strength = trace.erased, trace.strength
    assert erased is not None
    assert strength is not None
    mask = torch.ones_like(erased) > 0 if trace.mask is None else trace.mask
    left = (trace.logits + erased) * mask
    compared = done.layer.features(trace.keys)
    alike, beta = compared @ compared.mT, strength[:, 0]

    def working(row: int, column: int) -> Working:
        later = [at for at in range(column + 1, len(names)) if mask[row, at]]
        total = float(erased[row, column])
        pair = f"“{queries[row]}” to “{names[column]}”"
        if not mask[row, column]:
            return Working(f"{pair}: hidden.", ())
        if not later:
            return Working(f"{pair}: no later key takes anything back, {number(total)}.", ())
        passed = beta.new_ones(len(later))
        if trace.decay is not None:
            passed = trace.decay[later, 0].cumsum(0).exp()
        columns = {
            "kept score": left[row, later].tolist(),
            "β": beta[later].tolist(),
            "k · k": (alike[later, column] * passed).tolist(),
            "− product": (-left[row, later] * beta[later] * alike[later, column] * passed).tolist(),
        }
        words = f"{pair}: each later key takes back as much as it is like this one."
        return Working(words, [names[at] for at in later], columns, "sum", total)

    gamma = "" if trace.decay is None else r"\Gamma_{lj}\,"
    return Step(
        rf"e_{{ij}} = -\sum_{{j<l\le i}} (m_{{il}} + e_{{il}})\, \beta_l\, {gamma} k_l \cdot k_j",
        "A token that is written at a key like an earlier one takes a share β of what was there "
        "back from the earlier key's score.",
        [
            Matrix("masked", trace.logits, queries, names, allowed=trace.mask, lights="row"),
            "→",
            Matrix("erased", erased, queries, names, allowed=trace.mask),
        ],
        working,
    )
