"""ALTI and ALTI-Logit: nearness of each part to the sum of all."""

from __future__ import annotations

import functools

import torch
from torch import Tensor

from attention.analysis.associations.followed import Followed
from attention.analysis.associations.layers import through_norm, vectors
from attention.analysis.associations.method import Method, Step, register
from attention.analysis.associations.paths import product, rolled, row_normalised
from attention.analysis.associations.two_words import ROW, WORDS, Row, brought
from attention.core.matrix import Matrix
from attention.core.papers import ARXIV
from attention.core.printing import number
from attention.trained.models import Transformer


def alti_steps(followed: Followed) -> Tensor:
    """Of each layer relu(‖y_i‖₁ - ‖y_i - T_ij‖₁), rows to 1. (layers, queries, keys).

    A row of which no part comes near y_i stays 0.
    """
    steps = []
    for layer, run in enumerate(followed.runs):
        norm = followed.layers[layer].attention_norms.after
        y = (run.middle if norm is None else norm(run.middle))[:, None]
        parts = through_norm(followed, layer)
        near = y.norm(p=1, dim=-1) - (y - parts).norm(p=1, dim=-1)
        steps.append(row_normalised(near.relu()))
    return torch.stack(steps)


@register
class Alti(Method):
    """Nearness of what a token brings to all that is brought."""

    name = "alti"
    title = "ALTI"
    source = f"[Ferrando et al. 2022]({ARXIV}2203.04212)"
    definition = (
        "relu(‖y_i‖₁ - ‖y_i - T_ij‖₁), rows to 1, multiplied over the layers without I; T_ij: "
        "what x_j adds to y_i through attention, residual path and layer norm taken apart."
    )
    by_vectors = True

    def number(self, followed: Followed) -> Tensor:
        return rolled(alti_steps(followed))

    def steps(self, case: Followed) -> list[Step]:
        steps, T = alti_steps(case), through_norm(case, 0)
        y, names = case.runs[0].middle[ROW], [f"from {word}" for word in WORDS]
        sizes = [float(part.abs().sum()) for part in (y, y - T[ROW, 0], y - T[ROW, 1])]
        near = torch.tensor([[sizes[0] - sizes[1]], [sizes[0] - sizes[2]]])
        parts: Row = [
            brought("T", T),
            "→",
            Matrix("‖y‖ − ‖y − T‖", near, names, ["near y"], "share"),
            "to 1 →",
            Matrix("share", steps[0][ROW][:, None], names, ["share"], "share"),
        ]
        words = (
            "Layer 1, row “cat”: both vectors add up to y, whose sizes add up to "
            f"{number(sizes[0])}. Without that of “the” {number(sizes[1])} of them is left, "
            f"without that of “cat” {number(sizes[2])}."
        )
        return [Step(words, parts), product(steps, self(case)[1], "ALTI")]


@register
class AltiLogit(Method):
    """Votes of what each token brings for the next piece."""

    name = "alti-logit"
    title = "ALTI-Logit"
    source = f"[Ferrando et al. 2023]({ARXIV}2305.12535)"
    definition = (
        "x_i of the first layer through the unembedding where j = i, and the sum over the "
        "layers of (Σ_h w^h_ik v^h_k W_o^h through the unembedding) times the ALTI of the "
        "layers before from k to j. The last norm is taken apart; biases of W_o and "
        "feed-forwards count for nothing."
    )
    by_vectors = True
    decoder = True

    def number(self, followed: Followed) -> Tensor:
        model = followed.model
        assert isinstance(model, Transformer)
        total, direction = followed.runs[-1].output[:, None], followed.directions[:, None]
        before = rolled(alti_steps(followed))

        def votes(parts: Tensor) -> Tensor:
            norm = model.parts.final_norm
            normed = parts if norm is None else norm.split(parts, total)
            return (normed * direction).sum(-1)

        found = votes(followed.runs[0].entered[:, None])[:, 0].diag()
        layers = []
        for layer in range(len(followed.layers)):
            voted = votes(vectors(followed, layer))
            found = found + (voted @ before[layer - 1] if layer else voted)
            layers.append(found)
        return torch.stack(layers)

    def steps(self, case: Followed) -> list[Step]:
        before = alti_steps(case)[0]
        votes = (vectors(case, 1) * case.directions[:, None]).sum(-1)
        own = (case.runs[0].entered * case.directions).sum(-1).diag()
        first, last = (self(case)[layer] for layer in range(2))
        signed = functools.partial(Matrix, row_names=WORDS, column_names=WORDS)
        vote: Row = [
            signed("word itself", own),
            "+",
            signed("votes of layer 1", first - own),
            "=",
            signed("after layer 1", first),
        ]
        product: Row = [
            signed("after layer 1", first),
            "+",
            signed("votes of layer 2", votes, lights="row"),
            "×",
            signed("ALTI of layer 1", before, lights="column"),
            "=",
            signed("ALTI-Logit", last),
        ]
        chosen = case.model.shown([int(case.hidden[ROW].argmax())])[0]
        return [
            Step(
                "Here no word sees a later one, and the score of a word to come next is the number "
                f"in its dimension. After “cat” the likeliest is “{chosen}”: a vote is the number "
                "that each word adds there.",
                vote,
            ),
            Step(
                "The votes of layer 2 belong to the words from which layer 1 brought them.", product
            ),
        ]
