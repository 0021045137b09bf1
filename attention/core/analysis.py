"""Contributions of a trace: who contributes how much, how sure a row is, which words are near."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from attention.core.functional import Trace

LEAST_SUM = 0.99  # of weights in half precision that sum to 1


def contributions(trace: Trace, query: int) -> Tensor:
    """The terms `w_ij v_j` whose sum over the keys is output row `query`. (…, keys, d_v)."""
    return trace.applied[..., query, :, None] * trace.values


def shares(trace: Trace, query: int) -> Tensor:
    """Each term's signed share of the output: its length along y_i over that of y_i. (…, keys).

    The shares of a row sum to 1; they are all 0 where the output is 0.
    """
    output = trace.output[..., query, :]
    along = (contributions(trace, query) * output.unsqueeze(-2)).sum(-1)
    return (along / output.square().sum(-1, keepdim=True)).nan_to_num(0.0, 0.0, 0.0)


def rounding(trace: Trace, query: int) -> float:
    """`‖Σ_j w_ij v_j - y_i‖`, the sum taken term by term in float64."""
    total = contributions(trace, query).double().sum(-2)
    return float((total - trace.output[..., query, :].double()).norm())


def join(weights: Tensor, rows: Sequence[int], columns: Sequence[int]) -> Tensor:
    """Weights of pieces as weights of words: rows of a word averaged, its columns summed.

    weights (…, queries, keys); rows, columns: for each query and key the word it belongs to,
    counted from 0. Each row sums to what it did (Clark et al. 2019, section 4.1). Returns
    (…, words, words).
    """
    belongs = [one_hot(torch.tensor(words)).to(weights) for words in (rows, columns)]
    averaged = belongs[0].T @ weights / belongs[0].sum(0)[:, None]
    joined: Tensor = averaged @ belongs[1]
    return joined


@dataclass(frozen=True, eq=False)
class Terms:
    """The terms of one weighted sum, one per row; the rows sum to the output.

    keys: tokens; positions: theirs, None for the row that adds up all weaker terms;
    weights (rows,); terms (rows, d_v); numbers: further columns, None where a row has none.
    """

    keys: list[str]
    positions: list[int | None]
    weights: Tensor
    terms: Tensor
    numbers: dict[str, list[float | None]]


def strongest(trace: Trace, tokens: Sequence[str], query: int, most: int) -> Terms:
    """The terms of output row `query` of a 2-D trace, in the order of the sentence.

    With more than `most` keys the weaker ones are added up in one more row.
    """
    weights = trace.applied[query]
    order = weights.abs().argsort(descending=True, stable=True)
    kept, rest = order[:most].sort().values, order[most:]
    terms, portions = contributions(trace, query), shares(trace, query)
    rows = [terms[kept]]
    numbers: dict[str, list[float | None]] = {
        "score": trace.scores[query, kept].tolist(),
        "scaled": trace.scaled[query, kept].tolist(),
        "‖v‖": trace.values[kept].norm(dim=-1).tolist(),
    }
    keys = [tokens[key] for key in kept.tolist()]
    positions: list[int | None] = kept.tolist()
    sums, parts = [weights[kept]], [portions[kept]]
    if len(rest):
        keys.append(f"{len(rest)} others")
        positions.append(None)
        rows.append(terms[rest].sum(0, keepdim=True))
        sums.append(weights[rest].sum(0, keepdim=True))
        parts.append(portions[rest].sum(0, keepdim=True))
        for column in numbers.values():
            column.append(None)
    together = torch.cat(rows)
    numbers["‖w·v‖"] = together.norm(dim=-1).tolist()
    numbers["share of y"] = torch.cat(parts).tolist()
    return Terms(keys, positions, torch.cat(sums), together, numbers)


def entropy_bits(weights: Tensor) -> Tensor:
    """Shannon entropy of each row in bits: 0 = one key, log2(keys) = all alike. (…, queries).

    A row with nothing to attend to, 0 throughout, has none: nan. Of a row that sums to less, since
    a sink takes the rest, it is that of the weights' shares of their sum.
    The greatest weight of a row is taken for what the others leave of 1, wherever they sum to 1 but
    for rounding: near 1 its own last digits say too little of how far from it they are.
    """
    sums = weights.sum(-1, keepdim=True)
    sinks = (sums > 0) & (sums < LEAST_SUM)
    if sinks.any():
        weights = torch.where(sinks, weights / sums, weights)
    most, at = weights.max(-1, keepdim=True)
    others = weights.scatter(-1, at, 0.0)
    logs = others.clamp_min(1e-38).log_()  # so that 0 log 0 = 0; xlogy takes three times as long
    rest, most = others.sum(-1), most.squeeze(-1)
    term = torch.where(
        (most + rest - 1).abs() < 1e-4,
        (1 - rest) * torch.log1p(-rest),
        most * most.clamp_min(1e-38).log(),
    )
    bits = -(logs.mul_(others).sum(-1) + term) / math.log(2)
    return (bits.clamp_min(0.0) + 0.0).where(most > 0, torch.nan)  # no -0.0 for sure rows


def table(trace: Trace, query: int, tokens: Sequence[str]) -> dict[str, list[float] | list[str]]:
    """One query of a 2-D trace as columns: key, score, scaled, weight, ‖v‖, ‖w·v‖, share."""
    columns = {
        "score": trace.scores[query],
        "scaled": trace.scaled[query],
        "weight": trace.applied[query],
        "‖v‖": trace.values.norm(dim=-1),
        "‖w·v‖": contributions(trace, query).norm(dim=-1),
        "share of y": shares(trace, query),
    }
    return {"key": list(tokens)} | {name: column.tolist() for name, column in columns.items()}


ROUNDING = 5e-5  # a sum this near to 1 is shown as 1.0000


def sums_to_one(weights: Tensor) -> Tensor:
    """True for rows of weights (…, keys) that sum to 1, but for rounding. (…), bool."""
    return (weights.double().sum(-1) - 1).abs() < ROUNDING


def is_distribution(weights: Tensor) -> Tensor:
    """True for rows of weights (…, keys) that sum to 1 and of which none is below 0. (…), bool."""
    return sums_to_one(weights) & (weights >= 0).all(-1)


def divergence_terms(p: Tensor, q: Tensor) -> Tensor:
    """Terms of the Jensen–Shannon divergence of two rows, one per key, in bits. (…, keys), float64.

    p, q: (…, keys), weights that sum to 1. The term of a key is ½ p log2(p/m) + ½ q log2(q/m)
    with m = (p + q) / 2; it is never below 0 (Lin 1991, section IV, with equal parts).
    """
    p, q = p.double(), q.double()
    mean = (p + q) / 2
    parts = [torch.where(one > 0, one * (one / mean).log2(), 0.0) for one in (p, q)]
    return ((parts[0] + parts[1]) / 2).clamp_min(0.0)


def divergence_bits(p: Tensor, q: Tensor) -> Tensor:
    """Jensen–Shannon divergence of rows of weights, in bits (Lin 1991, section IV). (…,), float64.

    p, q: (…, keys). Symmetric; 0 for equal rows, 1 for rows that share no key. nan where one of
    them is no distribution: a row that may look at nothing, one with weights below 0, or another
    that does not sum to 1.
    """
    bits = divergence_terms(p, q).sum(-1).clamp_max(1.0)
    return bits.where(is_distribution(p) & is_distribution(q), torch.nan)
