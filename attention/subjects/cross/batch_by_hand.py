"""A batch written by hand: its stacks of queries, keys and values, and how they change in size.

It opens on the example of Dive into Deep Learning (classic edition, attention scoring functions).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import torch
from torch import Tensor

from attention.core.functional import ScoreFunction, additive_scores, dot_scores
from attention.core.variants import ParametersConfig, parameter_maker
from attention.figures.matrix import MatrixError
from attention.figures.stacks import read_numbers, resized

QUERIES = "1 2 | 3 -1"
KEYS = " | ".join(["; ".join(["1 1"] * 10)] * 2)
VALUES = " | ".join(
    ["; ".join(" ".join(str(4 * row + column) for column in range(4)) for row in range(10))] * 2
)
LENS = "2 6"
DOT, ADDITIVE = "dot product", "additive attention"
TEXTS = {"toy_queries": QUERIES, "toy_keys": KEYS, "toy_values": VALUES}

# What grows and shrinks by one, and which dimension of which stacks that is.
SIZES: dict[str, dict[str, str]] = {
    "sequence": dict.fromkeys(TEXTS, "matrix"),
    "query": {"toy_queries": "row"},
    "key": {"toy_keys": "row", "toy_values": "row"},
    "number of queries": {"toy_queries": "column"},
    "number of keys": {"toy_keys": "column"},
    "number of values": {"toy_values": "column"},
}
WIDTH = "number of queries and keys"
BOTH_WIDTHS = {"toy_queries": "column", "toy_keys": "column"}


def sizes_of(scores: str) -> dict[str, dict[str, str]]:
    """Sizes that can grow and shrink: for dot products queries and keys are of one width."""
    if scores != DOT:
        return SIZES
    apart = ("number of queries", "number of keys")
    return {name: which for name, which in SIZES.items() if name not in apart} | {
        WIDTH: BOTH_WIDTHS
    }


def texts_after(texts: Mapping[str, str], change: str, scores: str) -> dict[str, str] | None:
    """The texts that a change such as "+ key" makes others, None where it cannot be made.

    texts: of the stacks and, as `toy_lens`, of the valid lengths, which follow.
    """
    sign, _, what = change.partition(" ")
    new: dict[str, str] = {}
    for name, dimension in sizes_of(scores).get(what, {}).items():
        text = resized(texts[name], f"{sign} {dimension}")
        if text is None:
            return None
        new[name] = text
    stacks = {**texts, **new}
    try:
        queries, keys = (read_numbers(name, stacks[name]) for name in ("toy_queries", "toy_keys"))
    except MatrixError:
        return new
    return new | {"toy_lens": fitting_lens(texts["toy_lens"], queries, keys)}


def fitting_lens(text: str, queries: Tensor, keys: Tensor) -> str:
    """Valid lengths for a batch of another size: cut, or with the last one again.

    Text that writes no lengths stays as it is.
    """
    per_query = ";" in text
    lines = [line.replace(",", " ").split() for line in text.strip().strip(";").split(";")]
    if not all(lines) or not all(word.isdecimal() for line in lines for word in line):
        return text

    def fit(items: list[str], count: int) -> list[str]:
        return (items + items[-1:] * count)[:count]

    n_keys = keys.shape[1]
    cut = [[str(min(int(word), n_keys)) for word in line] for line in lines]
    if not per_query:
        return " ".join(fit(cut[0], len(queries)))
    rows = [" ".join(fit(line, queries.shape[1])) for line in cut]
    return "; ".join(fit(rows, len(queries))) + (";" if len(queries) == 1 else "")


def read_batch(texts: Mapping[str, str], scores: str) -> tuple[Tensor, Tensor, Tensor]:
    """Queries (batch, queries, d_q), keys (batch, keys, d_k) and values (batch, keys, d_v).

    Raises MatrixError where a text writes no stack, or they do not fit each other.
    """
    names = {"toy_queries": "Queries", "toy_keys": "Keys", "toy_values": "Values"}
    queries, keys, values = (read_numbers(names[name], texts[name]) for name in names)
    if len({len(queries), len(keys), len(values)}) > 1:
        raise MatrixError(
            "Queries, keys and values need as many sequences as each other, got "
            f"{len(queries)}, {len(keys)} and {len(values)}"
        )
    if keys.shape[1] != values.shape[1]:
        raise MatrixError(
            f"Each key needs a value, got {keys.shape[1]} keys and {values.shape[1]} values"
        )
    if scores == DOT and queries.shape[2] != keys.shape[2]:
        raise MatrixError(
            "A dot product needs queries and keys of one width, got "
            f"{queries.shape[2]} and {keys.shape[2]}"
        )
    return queries, keys, values


def scoring(
    scores: str, queries: Tensor, keys: Tensor, hidden: int, seed: int
) -> tuple[ScoreFunction, dict[str, Tensor]]:
    """The score function of that name, and its parameters by their names.

    Additive attention is that of Bahdanau et al. 2015, appendix A.1.2: W_q (d_q, hidden),
    W_k (d_k, hidden) and v (hidden,), drawn at random.
    """
    if scores == DOT:
        return dot_scores, {}
    make: Callable[..., Tensor] = parameter_maker(ParametersConfig(seed=seed))
    with torch.no_grad():
        W_q, W_k, v = (
            make(*shape).detach()
            for shape in ((queries.shape[2], hidden), (keys.shape[2], hidden), (hidden,))
        )
    parameters = {"W_q": W_q, "W_k": W_k, "v": v}
    return partial(additive_scores, W_q=W_q, W_k=W_k, v=v), parameters
