"""Methods that ask the weights alone: their mean over layers, and rollout."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from attention.analysis.associations.followed import Followed
from attention.analysis.associations.method import ABNAR, Method, Step, register
from attention.analysis.associations.two_words import square


def mean_weights(followed: Followed) -> Tensor:
    """The weights of each layer, mean over its heads. (layers, queries, keys)."""
    return torch.stack([run.trace.weights.mean(0) for run in followed.runs])


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


def product(steps: Tensor, rolled_out: Tensor, name: str) -> Step:
    """A product of the steps of two layers."""
    second, first = (square(f"layer {at}", steps[at - 1]) for at in (2, 1))
    left, right = replace(second, lights="row"), replace(first, lights="column")
    return Step(
        "The later layer on the left: a row times a column, product by product, added up.",
        [left, "×", right, "=", square(name, rolled_out)],
    )


@register
class RawMean(Method):
    """The weights of the later layers together."""

    name = "raw-mean"
    title = "Raw weights, mean over layers"
    source = ABNAR
    definition = (
        "The weights, mean over heads and over the later half of the layers so far: l/2 rounded "
        "up to l, counted from 0."
    )

    def number(self, followed: Followed) -> Tensor:
        weights = mean_weights(followed)
        return torch.stack(
            [weights[(last + 1) // 2 : last + 1].mean(0) for last in range(len(weights))]
        )

    def steps(self, case: Followed) -> list[Step]:
        mean = mean_weights(case)
        over_heads = [
            Step(
                f"Layer {layer + 1}: each cell is the mean of that cell in both heads.",
                [
                    square("head 0", run.trace.weights[0]),
                    "",
                    square("head 1", run.trace.weights[1]),
                    "mean →",
                    square("mean", mean[layer]),
                ],
            )
            for layer, run in enumerate(case.runs)
        ]
        half = (
            "Of two layers the later half is the second alone, so that its cells stay as they are."
        )
        return [*over_heads, Step(half, [square("mean over layers", self(case)[1])])]


@register
class Rollout(Method):
    """Weights and residual path, multiplied over the layers."""

    name = "rollout"
    title = "Rollout"
    source = ABNAR
    definition = "A_l ··· A_1, with A = the mean of the heads' weights + I, rows to 1."

    def number(self, followed: Followed) -> Tensor:
        return rolled(with_identity(mean_weights(followed)))

    def steps(self, case: Followed) -> list[Step]:
        weights = mean_weights(case)
        steps = with_identity(weights)
        halves = Step(
            "Half the weights, half the word itself, in each layer.",
            [
                square("raw weights", weights[0]),
                "+",
                square("I", torch.eye(2)),
                "÷ 2 =",
                square("layer 1", steps[0]),
            ],
        )
        return [halves, product(steps, self(case)[1], "rollout")]
