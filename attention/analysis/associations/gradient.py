"""Gradient × attention: weights by how much the target grows with them."""

from __future__ import annotations

import itertools

import torch
from torch import Tensor

from attention.analysis.associations.followed import Followed
from attention.analysis.associations.method import Method, Step, register
from attention.analysis.associations.two_words import ROW, WORDS, Row, square
from attention.changing.known import MAX_PIECES_AT_ONCE
from attention.core.matrix import Matrix
from attention.core.papers import ARXIV
from attention.core.printing import number
from attention.trained.models import Padded, Start


@register
class Gradient(Method):
    """Weights by how much the target grows with them."""

    name = "gradient"
    title = "Gradient × attention"
    source = f"[Chefer et al. 2021]({ARXIV}2103.15679)"
    definition = (
        "R = I, then R += mean_h relu(∇A ⊙ A) R for each layer; row i with the gradients of "
        "the target at i: the score of the likeliest next piece, or the difference of two; for "
        "encoders the hidden state along its own direction."
    )
    slow = True

    def number(self, followed: Followed) -> Tensor:
        n_tokens = len(followed.pieces.ids)
        at_once = max(1, MAX_PIECES_AT_ONCE // n_tokens)
        rows = []
        for some in torch.arange(n_tokens).split(at_once):
            followed.progress(int(some[0]), n_tokens)
            rows.append(_gradient(followed, some))
        return torch.cat(rows, 1)

    def steps(self, case: Followed) -> list[Step]:
        weights, slopes = gradients(case, torch.tensor([ROW]))
        steps = [
            (slope * weight)[0].relu().mean(0)
            for weight, slope in zip(weights, slopes, strict=True)
        ]
        before = torch.eye(2) + steps[0]
        first, second = (weights[1] * slopes[1])[0]
        head: Row = [
            square("A of layer 2, head 0", weights[1][0, 0]),
            "⊙",
            Matrix("∇A", slopes[1][0, 0], WORDS, WORDS, lights="cell"),
            "=",
            Matrix("∇A ⊙ A, head 0", first, WORDS, WORDS),
        ]
        both: Row = [
            Matrix("∇A ⊙ A, head 0", first, WORDS, WORDS, lights="cell"),
            "",
            Matrix("∇A ⊙ A, head 1", second, WORDS, WORDS, lights="cell"),
            "mean →",
            Matrix("mean", steps[1], WORDS, WORDS, "share"),
        ]
        product: Row = [
            square("R before", before),
            "+",
            Matrix("mean", steps[1], WORDS, WORDS, "share", lights="row"),
            "×",
            Matrix("R before", before, WORDS, WORDS, "share", lights="column"),
            "=",
            square("R", before + steps[1] @ before),
        ]
        words = (
            "The target is how far the last vector of “cat” reaches in its own direction. ∇A: by "
            "how much that grows with each weight."
        )
        row = ", ".join(number(float(cell)) for cell in self(case)[1][ROW])
        return [
            Step(words, head),
            Step("The mean of both heads; of what is below 0, 0 counts.", both),
            Step(
                f"R begins as I, and each layer adds its part. Row “cat” of the last R: {row}.",
                product,
            ),
        ]


def gradients(followed: Followed, positions: Tensor) -> tuple[list[Tensor], list[Tensor]]:
    """Weights of each layer, and the gradients of the target at some positions by them.

    Lists of (positions, heads, queries, keys), one for each layer.
    """
    ids = followed.pieces.ids.expand(len(positions), -1)
    batch = Padded(ids)
    with torch.enable_grad():
        start = Start(0, followed.model.embed(ids).detach().requires_grad_())
        forward = followed.model.forward(batch, start=start)
        runs = [*itertools.islice(forward, len(followed.layers))]
        targets = followed.target(followed.final(runs[-1].output))
        weights = [run.trace.weights for run in runs]
        slopes = torch.autograd.grad(targets[range(len(positions)), positions].sum(), weights)
    return [each.detach() for each in weights], [*slopes]


def _gradient(followed: Followed, positions: Tensor) -> Tensor:
    """The rows of some positions. (layers, positions, keys)."""
    together = torch.eye(len(followed.pieces.ids)).expand(len(positions), -1, -1)
    rows = []
    for weights, slopes in zip(*gradients(followed, positions), strict=True):
        together = together + (slopes * weights).relu().mean(1) @ together
        rows.append(together[range(len(positions)), positions])
    return torch.stack(rows)
