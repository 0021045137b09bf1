"""ALTI: nearness of each part to the sum of all."""

from __future__ import annotations

import torch
from torch import Tensor

from attention.analysis.associations.followed import Followed
from attention.analysis.associations.method import Method, Step, register
from attention.analysis.associations.two_words import ROW, WORDS, Row, brought
from attention.analysis.associations.weights import product, rolled, row_normalised
from attention.core.matrix import Matrix
from attention.core.papers import ARXIV
from attention.core.printing import number


def vectors(followed: Followed, layer: int) -> Tensor:
    """Σ_h w^h_ij v^h_j W_o^h.

    Their sum over the keys, and the bias of W_o, is what attention adds. (queries, keys, d_model).
    """
    attention, trace = followed.layers[layer].attention, followed.runs[layer].trace
    W, _ = attention.projection("output")
    assert W is not None
    values = trace.values @ W.unflatten(0, (attention.heads, -1))
    return torch.einsum("hqk,hkd->qkd", trace.applied, values)


def through_norm(followed: Followed, layer: int) -> Tensor:
    """T_ij: `vectors`, and x_i where the key is the query itself, through the norm behind the sum.

    The norm taken apart, (v - mean(v)) / σ(full sum) · γ, without β (Kobayashi et al. 2021). Layers
    that norm first have no norm there. (queries, keys, d_model).
    """
    parts = vectors(followed, layer)
    parts.diagonal(0, 0, 1).add_(followed.runs[layer].x.T)
    norm = followed.layers[layer].attention_norms.after
    return parts if norm is None else norm.split(parts, followed.runs[layer].middle[:, None])


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
