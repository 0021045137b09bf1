"""Variants whose weights are a softmax of their scores, from plain dot products to many heads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn.functional import normalize

from attention.core import functional, settings
from attention.core.papers import ARXIV, BAHDANAU, KERNEL_CHAPTER, LUONG, VASWANI
from attention.core.settings import Value, decimal, whole
from attention.core.variants.base import (
    MAX_HEADS,
    DotScores,
    HeadsConfig,
    ParameterMaker,
    ParametersConfig,
    Variant,
    register,
)


@register
class DotProduct(DotScores):
    """Self-attention without parameters: y = softmax(X Xᵀ) X."""

    name = "dot"
    title = "Dot-product self-attention"
    does = "each word compared with each other"
    formula = r"s_{ij} = x_i \cdot x_j \\ y_i = \sum_j w_{ij}\, x_j"
    source = f"{LUONG}, “dot”; with 1/√d_k, {VASWANI}, eq. 1 with Q = K = V = X"


@register
class QueryKeyValue(DotScores):
    """Scaled dot-product attention over learned projections."""

    @dataclass(frozen=True)
    class Config(ParametersConfig):
        d_k: int = whole(50, "d_k", 1, 128, help="Width of queries and keys.")
        d_v: int = whole(50, "d_v", 1, 128, help="Width of values.")

    name = "qkv"
    title = "Query, key and value"
    does = "words through three matrices, then compared"
    formula = r"s_{ij} = (x_i W_q) \cdot (x_j W_k) \\ y_i = \sum_j w_{ij}\, x_j W_v"
    source = f"{VASWANI}, eq. 1"
    published_scale = "1/√d_k"
    projections: ClassVar[dict[str, str]] = {"queries": "W_q", "keys": "W_k", "values": "W_v"}

    def add_parameters(self, make: ParameterMaker) -> None:
        config = self.config
        self.W_q = make(config.d_model, config.d_k)
        self.W_k = make(config.d_model, config.d_k)
        self.W_v = make(config.d_model, config.d_v)


@register
class MultiHead(DotScores):
    """Several heads side by side, each on its own slice of d_model; W_o mixes what they find."""

    Config = HeadsConfig
    name = "multihead"
    title = "Multi-head attention"
    does = "several small attentions side by side"
    formula = (
        r"s^h_{ij} = (x_i W_q^h) \cdot (x_j W_k^h)"
        r" \\ y_i = \sum_h \sum_j w^h_{ij}\, x_j W_v^h\, W_o^h"
    )
    source = f"{VASWANI}, section 3.2.2"
    published_scale = "1/√d_k"
    projections: ClassVar[dict[str, str]] = QueryKeyValue.projections | {"output": "W_o"}

    def add_parameters(self, make: ParameterMaker) -> None:
        d_model = self.config.d_model
        shared = d_model // self.heads * self.groups
        self.W_q = make(d_model, d_model)
        self.W_k = make(d_model, shared)
        self.W_v = make(d_model, shared)
        self.W_o = make(d_model, d_model)


@register
class GroupedQuery(MultiHead):
    """Heads in groups: those of a group ask in their own ways, but share keys and values."""

    @dataclass(frozen=True)
    class Config(HeadsConfig):
        groups: int = whole(
            1,
            "Groups",
            1,
            MAX_HEADS,
            divides="heads",
            help="How many heads of keys and values there are. 1: all heads share them, which is "
            "multi-query attention. As many as heads: multi-head attention.",
        )

    name = "grouped"
    title = "Grouped-query attention"
    does = "several queries share keys and values"
    formula = (
        r"s^h_{ij} = (x_i W_q^h) \cdot (x_j W_k^{g(h)})"
        r" \\ y_i = \sum_h \sum_j w^h_{ij}\, x_j W_v^{g(h)}\, W_o^h"
    )
    source = (
        f"[Ainslie et al. 2023]({ARXIV}2305.13245), section 2.2; with one group multi-query, "
        f"[Shazeer 2019]({ARXIV}1911.02150), section 3, which folds 1/√d_k into W_q or W_k"
    )
    published_scale = "none"

    @property
    def groups(self) -> int:
        return int(self.config.groups)


@register
class TalkingHeads(MultiHead):
    """Heads that talk: scores are mixed across heads before the softmax, weights after it."""

    name = "talking"
    title = "Talking-heads attention"
    does = "heads mix their scores and weights"
    formula = (
        r"s^h_{ij} = (x_i W_q^h) \cdot (x_j W_k^h)"
        r" \\ u^h = \sum_g \operatorname{softmax}\bigl(\textstyle\sum_f s^f P_l^{fg}\bigr) P_w^{gh}"
        r" \\ y_i = \sum_h \sum_j u^h_{ij}\, x_j W_v^h\, W_o^h"
    )
    source = f"[Shazeer et al. 2020]({ARXIV}2003.02436), section 4"
    published_scale = "none"

    def add_parameters(self, make: ParameterMaker) -> None:
        super().add_parameters(make)
        self.P_l = make(self.heads, self.heads)
        self.P_w = make(self.heads, self.heads)

    def before_softmax(self, scaled: Tensor) -> Tensor:
        return torch.einsum("...fij,fg->...gij", scaled, self.P_l)

    def after_softmax(self, weights: Tensor) -> Tensor:
        return torch.einsum("...gij,gh->...hij", weights, self.P_w)

    def mixed_score_terms(self, scaled: Tensor, head: int) -> dict[str, Tensor]:
        column = self.P_l[:, head]
        return {"scaled": scaled, f"P_l, column {head}": column, "product": scaled * column}

    def mixed_weight_terms(self, weights: Tensor, head: int) -> dict[str, Tensor]:
        column = self.P_w[:, head]
        return {"weight": weights, f"P_w, column {head}": column, "product": weights * column}


@register
class Additive(Variant):
    """A small network with one hidden layer scores each pair."""

    @dataclass(frozen=True)
    class Config(ParametersConfig):
        d_hidden: int = whole(16, "Hidden units", 1, 128, help="Width of the tanh layer.")

    name = "additive"
    title = "Additive attention"
    does = "a small network scores each pair"
    formula = r"s_{ij} = \tanh(x_i W_q + x_j W_k)\, v \\ y_i = \sum_j w_{ij}\, x_j"
    source = f"{BAHDANAU}, appendix A.1.2"
    scoring = "tanh, v"
    usual_scale: ClassVar[Mapping[str, Value]] = {"scale": "none"}

    def add_parameters(self, make: ParameterMaker) -> None:
        config = self.config
        self.W_q = make(config.d_model, config.d_hidden)
        self.W_k = make(config.d_model, config.d_hidden)
        self.v = make(config.d_hidden)

    def scores(self, queries: Tensor, keys: Tensor) -> Tensor:
        return functional.additive_scores(queries, keys, self.W_q, self.W_k, self.v)

    def score_terms(self, query: Tensor, key: Tensor) -> dict[str, Tensor]:
        left, right = query @ self.W_q, key @ self.W_k
        hidden = (left + right).tanh()
        columns = {"q W_q": left, "k W_k": right, "tanh(q W_q + k W_k)": hidden}
        return columns | {"v": self.v, "v · tanh": self.v * hidden}


@register
class Bilinear(Variant):
    """One matrix between query and key."""

    Config = ParametersConfig
    name = "bilinear"
    title = "Bilinear attention"
    does = "one matrix between query and key"
    formula = r"s_{ij} = x_i\, W\, x_j^\top \\ y_i = \sum_j w_{ij}\, x_j"
    source = f"{LUONG}, “general”"
    scoring = "matmul W"

    def add_parameters(self, make: ParameterMaker) -> None:
        self.W = make(self.config.d_model, self.config.d_model)

    def scores(self, queries: Tensor, keys: Tensor) -> Tensor:
        return functional.bilinear_scores(queries, keys, self.W)

    def score_terms(self, query: Tensor, key: Tensor) -> dict[str, Tensor]:
        turned = query @ self.W
        return {"q W": turned, "k": key, "q W · k": turned * key}


@register
class Cosine(Variant):
    """The angle between query and key, whatever their lengths."""

    name = "cosine"
    title = "Cosine attention"
    does = "angles between vectors, their lengths aside"
    formula = (
        r"s_{ij} = \frac{x_i \cdot x_j}{\lVert x_i\rVert\,\lVert x_j\rVert}"
        r" \\ y_i = \sum_j w_{ij}\, x_j"
    )
    source = (
        f"[Graves et al. 2014]({ARXIV}1410.5401), eq. 6; their key strength β is the factor of the "
        "scale"
    )
    scoring = "cosine"
    published_scale = "factor"
    usual_scale: ClassVar[Mapping[str, Value]] = {"scale": "factor", "factor": 5.0}

    def scores(self, queries: Tensor, keys: Tensor) -> Tensor:
        return functional.cosine_scores(queries, keys)

    def score_terms(self, query: Tensor, key: Tensor) -> dict[str, Tensor]:
        q, k = normalize(query, dim=0), normalize(key, dim=0)
        return {"q / ‖q‖": q, "k / ‖k‖": k, "product": q * k}


@register
class Gaussian(Variant):
    """Nadaraya–Watson attention pooling: near keys count, far ones do not."""

    @dataclass(frozen=True)
    class Config(settings.Config):
        sigma: float = decimal(1.0, "σ", 0.1, 10.0, 0.1, help="Width of the Gaussian kernel.")

    name = "gaussian"
    title = "Gaussian kernel attention"
    does = "near vectors look at each other"
    formula = (
        r"s_{ij} = -\frac{\lVert x_i - x_j\rVert^2}{2\sigma^2}"
        r" \\ y_i = \sum_j w_{ij}\, x_j"
    )
    source = (
        "[Nadaraya 1964](https://doi.org/10.1137/1109020); "
        f"[Watson 1964](https://www.jstor.org/stable/25049340); as attention, {KERNEL_CHAPTER}"
    )
    scoring = "distance"

    def scores(self, queries: Tensor, keys: Tensor) -> Tensor:
        return functional.gaussian_scores(queries, keys, self.config.sigma)

    def score_terms(self, query: Tensor, key: Tensor) -> dict[str, Tensor]:
        terms = -(query - key).square() / (2 * self.config.sigma**2)
        return {"q": query, "k": key, "−(q − k)² / 2σ²": terms}
