"""Methods that follow weights from layer to layer: rollout and flow."""

from __future__ import annotations

import itertools
from collections.abc import Collection
from dataclasses import replace

import numpy as np
import torch
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow
from torch import Tensor

from attention.analysis.associations.followed import Followed
from attention.analysis.associations.layers import Raw
from attention.analysis.associations.method import ABNAR, Method, Step, register
from attention.analysis.associations.two_words import ROW, WORDS, Row, square
from attention.changing.known import Progress
from attention.core.printing import number

WHOLE = 10_000_000  # capacities of a flow are whole numbers of this part


def rolled(steps: Tensor) -> Tensor:
    """A_l ··· A_1 for each l, later layers on the left. steps (layers, tokens, tokens)."""
    products = [steps[0]]
    for step in steps[1:]:
        products.append(step @ products[-1])
    return torch.stack(products)


def row_normalised(matrix: Tensor) -> Tensor:
    """Each row divided by its sum; a row of zeros stays. (…, queries, keys)."""
    sums = matrix.sum(-1, keepdim=True)
    return matrix / sums.where(sums > 0, 1.0)


def with_identity(weights: Tensor) -> Tensor:
    """Rows of weights + I, to 1: the residual path counts for as much as all heads. (…, n, n)."""
    return row_normalised(weights + torch.eye(weights.shape[-1]))


def product(steps: Tensor, found: Tensor, name: str) -> Step:
    """A product of the steps of two layers."""
    second, first = (square(f"layer {at}", steps[at - 1]) for at in (2, 1))
    left, right = replace(second, lights="row"), replace(first, lights="column")
    return Step(
        "The later layer on the left: a row times a column, product by product, added up.",
        [left, "×", right, "=", square(name, found)],
    )


def halves(case: Followed) -> tuple[Tensor, Step]:
    """Steps that weights and residual path make, and how."""
    raw = Raw()(case)
    steps = with_identity(raw)
    parts: Row = [
        square("raw weights", raw[0]),
        "+",
        square("I", torch.eye(2)),
        "÷ 2 =",
        square("layer 1", steps[0]),
    ]
    return steps, Step("Half the weights, half the word itself, in each layer.", parts)


@register
class Rollout(Method):
    """Weights and residual path, multiplied over the layers."""

    name = "rollout"
    title = "Rollout"
    source = ABNAR
    definition = "A_l ··· A_1, with A = the mean of the heads' weights + I, rows to 1."

    def number(self, followed: Followed) -> Tensor:
        return rolled(with_identity(Raw().number(followed)))

    def steps(self, case: Followed) -> list[Step]:
        steps, halved = halves(case)
        return [halved, product(steps, self(case)[1], "rollout")]


@register
class Flow(Method):
    """Water through a net of pipes as wide as the weights."""

    name = "flow"
    title = "Flow"
    source = ABNAR
    definition = (
        "The maximum flow through a graph whose edges have the A of rollout for capacities, "
        "rows to 1."
    )
    slow = True
    apart = True

    def number(self, followed: Followed) -> Tensor:
        return flow_of(with_identity(Raw().number(followed)), followed.progress, followed.after)

    def steps(self, case: Followed) -> list[Step]:
        steps, halved = halves(case)
        second, first = steps[1], steps[0]
        told, sums = [], []
        for key, word in enumerate(WORDS):
            over = [min(float(second[ROW, via]), float(first[via, key])) for via in range(2)]
            sums.append(sum(over))
            told.append(
                f"to “{word}”: {number(over[0])} over “the” and {number(over[1])} over “cat”, "
                f"together {number(sums[-1])}"
            )
        words = (
            "Water from “cat” after layer 2 to each word before layer 1; the narrower pipe of a "
            f"way decides. {'; '.join(told)}. Divided by {number(sum(sums))}, so that the row sums "
            "to 1."
        )
        parts: Row = [
            square("layer 2", second),
            "",
            square("layer 1", first),
            "→",
            square("flow", self(case)[1]),
        ]
        return [halved, Step(words, parts)]


def flow_of(
    steps: Tensor,
    progress: Progress = lambda done, of: None,
    after: Collection[int] | None = None,
) -> Tensor:
    """The maximum flow from each token after each layer to each token before the first, rows to 1.

    steps (layers, queries, keys): the capacities of the edges from a layer's queries to its keys.
    progress: see `Followed`; after: the layers that are asked for, None: all; others are nan.
    """
    n_layers, n_tokens, _ = steps.shape
    layers = range(n_layers) if after is None else after
    capacities = (steps.double() * WHOLE).round().to(torch.int32)
    places = capacities.nonzero()
    layer, query, key = places.T.int().numpy()  # SciPy 1.13 has no flow of longer indices
    numbers = capacities[capacities > 0].numpy()
    ends = (layer + 1) * n_tokens + query, layer * n_tokens + key
    found, reached, rows = np.full(steps.shape, np.nan), torch.eye(n_tokens), itertools.count()
    for above, step in enumerate(capacities):
        reached = ((step > 0).float() @ reached > 0).float()
        if above not in layers:
            continue
        below, size = layer <= above, (above + 2) * n_tokens
        edges = (numbers[below], (ends[0][below], ends[1][below]))
        graph = csr_array(edges, shape=(size, size), dtype=np.int32)
        found[above] = 0  # between those that no path joins
        for row, columns in enumerate(reached):
            progress(next(rows), len(layers) * n_tokens)
            source = (above + 1) * n_tokens + row
            for column in columns.nonzero()[:, 0].tolist():
                found[above, row, column] = maximum_flow(graph, source, column).flow_value
    return row_normalised(torch.from_numpy(found)).float()
