"""What the heads of one layer do: measures to find a head by, and edges worth drawing."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from attention.analysis import entropy_bits
from attention.functional import Trace


def measures(weights: Tensor) -> dict[str, Tensor]:
    """What each head attends to, on average over the queries: a number a head, by name.

    weights: (heads, queries, keys), before dropout. Entropy in bits; distance in tokens between a
    query and where it looks; the shares of its weight on the previous, the same, the next and the
    first token. Rows with nothing to attend to count for nothing; a share on a token that is not
    there is 0 (the first query has no previous one).
    """
    n_queries, n_keys = weights.shape[-2:]
    offset = torch.arange(n_keys) - torch.arange(n_queries)[:, None]
    rows = (weights.sum(-1) > 0).sum(-1).clamp_min(1)

    def share(cells: Tensor) -> Tensor:
        return (weights * cells).sum((-2, -1)) / rows

    return {
        "entropy, bits": entropy_bits(weights).sum(-1) / rows,
        "distance": share(offset.abs()),
        "previous": share(offset == -1),
        "same": share(offset == 0),
        "next": share(offset == 1),
        "first": share((torch.arange(n_keys) == 0).expand(n_queries, n_keys)),
    }


def strongest_edges(weights: Tensor, share: float) -> Tensor:
    """The fewest keys of each row that together hold `share` of the row's weight, as a mask.

    weights: (…, queries, keys); share in [0, 1]. Returns bool of the same shape. At least one key
    of every row that has any weight is kept; nothing is renormalised.
    """
    if not 0 <= share <= 1:
        raise ValueError(f"share must lie in [0, 1], got {share}")
    ordered, order = weights.sort(dim=-1, descending=True, stable=True)
    before = ordered.double().cumsum(-1) - ordered
    needed = (before < share * weights.double().sum(-1, keepdim=True)) & (ordered > 0)
    needed[..., 0] |= ordered[..., 0] > 0
    edges: Tensor = torch.zeros_like(needed).scatter(-1, order, needed)
    return edges


def contributions(trace: Trace, W_o: Tensor) -> Tensor:
    """What each head adds to the output, through its rows of W_o; their sum is the output.

    trace: with a heads axis; W_o: (heads · d_head, d_model). Returns (heads, queries, d_model).
    """
    heads = trace.output.shape[-3]
    parts: Tensor = trace.output @ W_o.unflatten(0, (heads, -1))
    return parts


def neurons(trace: Trace, query: int) -> dict[str, Tensor]:
    """One query of a 2-D trace, dimension by dimension, against every key.

    Returns q (d_k,), k (keys, d_k), q×k (keys, d_k), and (keys,) each: sum, scaled, weight.
    """
    q, k = trace.queries[query], trace.keys
    return {
        "q": q,
        "k": k,
        "q×k": q * k,
        "sum": trace.scores[query],
        "scaled": trace.scaled[query],
        "weight": trace.weights[query],
    }


def table(
    measured: dict[str, Tensor], by: str, descending: bool
) -> tuple[list[str], dict[str, Any]]:
    """The measures as columns, a row a head, sorted by one of them; with the heads' names."""
    key = (
        measured[by]
        if by in measured
        else -torch.arange(len(next(iter(measured.values())))).float()
    )
    order = key.argsort(descending=descending or by not in measured, stable=True).tolist()
    columns = {name: [float(numbers[head]) for head in order] for name, numbers in measured.items()}
    return [str(head) for head in order], columns
