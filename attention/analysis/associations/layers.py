"""Methods that take layers one by one: their weights, and the lengths of what these bring."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from attention.analysis.associations.followed import Followed
from attention.analysis.associations.method import ABNAR, Method, Step, register
from attention.analysis.associations.two_words import ROW, WORDS, Row, brought, lengths, square
from attention.core.matrix import Matrix
from attention.core.papers import ARXIV
from attention.core.printing import number

KOBAYASHI_2020 = f"[Kobayashi et al. 2020]({ARXIV}2004.10102)"
KOBAYASHI_2021 = f"[Kobayashi et al. 2021]({ARXIV}2109.07152)"


def vectors(followed: Followed, layer: int) -> Tensor:
    """Σ_h w^h_ij v^h_j W_o^h.

    Their sum over the keys, and the bias of W_o, is what attention adds. (queries, keys, d_model).
    """
    attention, trace = followed.layers[layer].attention, followed.runs[layer].trace
    W, _ = attention.projection("output")
    assert W is not None
    values = trace.values @ W.unflatten(0, (attention.heads, -1))
    return torch.einsum("hqk,hkd->qkd", trace.applied, values)


def with_residual(followed: Followed, layer: int) -> Tensor:
    """Add x_i to `vectors` where the key is the query itself. (queries, keys, d_model)."""
    found = vectors(followed, layer)
    found.diagonal(0, 0, 1).add_(followed.runs[layer].x.T)
    return found


def through_norm(followed: Followed, layer: int) -> Tensor:
    """T_ij: the same through the norm behind the sum, taken apart. (queries, keys, d_model).

    (v - mean(v)) / σ(full sum) · γ, without β. Layers that norm first have no norm there.
    """
    found = with_residual(followed, layer)
    norm = followed.layers[layer].attention_norms.after
    return found if norm is None else norm.split(found, followed.runs[layer].middle[:, None])


def mean_weights(followed: Followed, layer: int) -> Tensor:
    """The weights of a layer, mean over its heads, as vectors of one number. (queries, keys, 1)."""
    return followed.runs[layer].trace.weights.mean(0)[..., None]


def mixing_ratio(
    followed: Followed, parts: Callable[[Followed, int], Tensor] = through_norm
) -> Tensor:
    """Share of each vector that comes from other tokens, of each layer. (layers, queries).

    ‖Σ_{j≠i} T_ij‖ / (‖Σ_{j≠i} T_ij‖ + ‖T_ii‖), in [0, 1] (Kobayashi et al. 2021, section 3.3).
    parts: a function of a layer -> T (queries, keys, d): `through_norm`, `with_residual`,
    `vectors`, or `mean_weights`.
    """
    rows = []
    for layer in range(len(followed.layers)):
        found = parts(followed, layer)
        own = found.diagonal(0, 0, 1).T
        others = (found.sum(1) - own).norm(dim=-1)
        rows.append(others / (others + own.norm(dim=-1)))
    return torch.stack(rows)


@register
class Raw(Method):
    """The weights that pictures show."""

    name = "raw"
    title = "Raw weights"
    source = ABNAR
    definition = "The weights of a layer, mean over its heads."
    alone = True

    def number(self, followed: Followed) -> Tensor:
        return torch.stack([run.trace.weights.mean(0) for run in followed.runs])

    def steps(self, case: Followed) -> list[Step]:
        cells = "Layer 1: each cell is the mean of that cell in both heads."
        return [Step(cells, over_heads(case, 0))]


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
        weights = Raw().number(followed)
        return torch.stack(
            [weights[(last + 1) // 2 : last + 1].mean(0) for last in range(len(weights))]
        )

    def steps(self, case: Followed) -> list[Step]:
        cells = "Layer 2: each cell is the mean of that cell in both heads."
        half = (
            "Of two layers the later half is the second alone, so that its cells stay as they are."
        )
        mean = square("mean over layers", self(case)[1])
        return [Step(cells, over_heads(case, 1)), Step(half, [mean])]


def over_heads(case: Followed, layer: int) -> Row:
    """The weights of both heads of a layer, and their mean."""
    first, second = case.runs[layer].trace.weights
    mean = square("mean", Raw()(case)[layer])
    return [square("head 0", first), "", square("head 1", second), "mean →", mean]


@register
class Norms(Method):
    """The lengths of what weights bring."""

    name = "norm"
    title = "Norm-based"
    source = KOBAYASHI_2020
    definition = "‖Σ_h w^h_ij v^h_j W_o^h‖₂ of a layer; the bias of W_o is left out."
    by_vectors = True
    alone = True

    def number(self, followed: Followed) -> Tensor:
        layers = range(len(followed.layers))
        return torch.stack([vectors(followed, layer).norm(dim=-1) for layer in layers])

    def steps(self, case: Followed) -> list[Step]:
        weights = case.runs[0].trace.weights[:, ROW].T
        values = case.runs[0].trace.values[:, :, 0].T
        names = [f"from {word}" for word in WORDS]
        heads = ["head 0", "head 1"]
        found = vectors(case, 0)
        parts: Row = [
            Matrix("weights of “cat”", weights, names, heads, lights="cell"),
            "×",
            Matrix("values", values, names, heads, lights="cell"),
            "=",
            brought("Σ w v W_o", found),
        ]
        length: Row = [brought("Σ w v W_o", found), "length →", lengths("norm", self(case)[0])]
        return [
            Step(
                "Layer 1, row “cat”: weight times value. Here head 0 writes dimension 0 and head 1 "
                "dimension 1.",
                parts,
            ),
            Step("The length of each vector: the root of its squares, added up.", length),
        ]


@register
class NormsWithResidual(Method):
    """Lengths of these with the residual path."""

    name = "norm-residual"
    title = "Norm-based with residual"
    source = KOBAYASHI_2021
    definition = "The same with x_i added where j = i."
    by_vectors = True
    alone = True

    def number(self, followed: Followed) -> Tensor:
        layers = range(len(followed.layers))
        return torch.stack([with_residual(followed, layer).norm(dim=-1) for layer in layers])

    def steps(self, case: Followed) -> list[Step]:
        plain, whole = vectors(case, 0), with_residual(case, 0)
        parts: Row = [
            brought("Σ w v W_o", plain),
            "+",
            brought("x of “cat” itself", whole - plain),
            "=",
            brought("with residual", whole),
        ]
        found = lengths("norm", self(case)[0])
        return [
            Step("Layer 1, row “cat”: what “cat” was stays, and counts for itself.", parts),
            Step("The length of each.", [brought("with residual", whole), "length →", found]),
        ]


@register
class NormsThroughNorm(Method):
    """Lengths of these through the norm behind the sum."""

    name = "norm-layer-norm"
    title = "Norm-based with residual and layer norm"
    source = KOBAYASHI_2021
    definition = (
        "The same, each vector v as (v - mean(v)) / σ(full sum) · γ. Layers that norm first "
        "have no norm there."
    )
    by_vectors = True
    alone = True
    normed = True

    def number(self, followed: Followed) -> Tensor:
        layers = range(len(followed.layers))
        return torch.stack([through_norm(followed, layer).norm(dim=-1) for layer in layers])

    def steps(self, case: Followed) -> list[Step]:
        whole, through = with_residual(case, 0), through_norm(case, 0)
        total = whole[ROW].sum(0)
        mean, spread = float(total.mean()), float(total.var(correction=0).sqrt())
        parts: Row = [brought("with residual", whole), "norm →", brought("T", through)]
        found = lengths("norm", self(case)[0])
        return [
            Step(
                f"Layer 1, row “cat”: both vectors add up to numbers of mean {number(mean)} and "
                f"spread {number(spread)}. From each vector its own mean is taken off, then it is "
                "divided by that spread.",
                parts,
            ),
            Step("The length of each.", [brought("T", through), "length →", found]),
        ]
