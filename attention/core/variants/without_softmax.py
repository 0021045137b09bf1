"""Variants without a softmax, which keep one state: linear, with decay, and by the delta rule.

All have the W_q, W_k, W_v and W_o of multi-head attention with the same seed. Short convolutions,
norms and gates of the output, which the papers have around them, are left out here. They read a
sentence from its beginning, so they are published with the causal mask.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor
from torch.nn.functional import elu, logsigmoid, softplus

from attention.core import functional
from attention.core.norms import RmsNorm
from attention.core.papers import ARXIV
from attention.core.settings import Value, choice, decimal, same_as
from attention.core.variants.base import HeadsConfig, ParameterMaker, register
from attention.core.variants.with_softmax import MultiHead
from attention.core.weighing import UNNORMED, Weighing

CAUSAL = {"mask": ("causal",)}
PROJECTED = r"s^h_{ij} = (x_i W_q^h) \cdot (x_j W_k^h)"
OUTPUT = r"y_i = \sum_h \sum_{j \le i} w^h_{ij}\, x_j W_v^h\, W_o^h"
GATES = ("each token's own", "1", "0.5", "0")


class WithoutSoftmax(MultiHead):
    """Base of the variants whose weights are their scores, decayed and erased: of any sign."""

    weighing = UNNORMED
    keeps_state = True
    usual_scale: ClassVar[Mapping[str, Value]] = {"scale": "1/√d_k", **CAUSAL}

    def weigh(self, scores: Tensor, mask: Tensor | None) -> Tensor:
        return functional.hide(scores, mask, 0.0)

    def each_head(self, gates: Tensor) -> Tensor:
        """Gates of all heads, (…, tokens, heads), as (…, heads, tokens, 1)."""
        return gates.mT.unsqueeze(-1)


@register
class Linear(WithoutSoftmax):
    """A kernel in place of the softmax's exponential: each score over the sum of its row."""

    @dataclass(frozen=True)
    class Config(HeadsConfig):
        feature_map: str = choice(
            "elu + 1",
            "Feature map φ",
            ("elu + 1", "relu"),
            help="What queries and keys go through, so that no score is below 0. elu + 1: as "
            "published. relu: 0 for what is below 0.",
        )

    name = "linear"
    title = "Linear attention"
    does = "no softmax, one sum that grows"
    formula = (
        r"s^h_{ij} = \varphi(x_i W_q^h) \cdot \varphi(x_j W_k^h)"
        r" \\ w_{ij} = s_{ij} \Big/ \textstyle\sum_{l \le i} s_{il} \\ " + OUTPUT
    )
    source = f"[Katharopoulos et al. 2020]({ARXIV}2006.16236), eq. 9"
    scoring = "φ · φ"
    published_scale = "none"
    weighing = Weighing(
        "÷ sum",
        r"w_{ij} = m_{ij} \Big/ \textstyle\sum_l m_{il}",
        "each score over the sum of them all is a weight",
        "Each score is divided by the sum of its row: shares, without any exponential.",
        shares=True,
        hides_by_zero=True,
    )
    usual_scale: ClassVar[Mapping[str, Value]] = {"scale": "none", **CAUSAL}

    def features(self, vectors: Tensor) -> Tensor:
        return vectors.relu() if self.config.feature_map == "relu" else elu(vectors) + 1

    def scores(self, queries: Tensor, keys: Tensor) -> Tensor:
        return functional.dot_scores(self.features(queries), self.features(keys))

    def score_terms(self, query: Tensor, key: Tensor) -> dict[str, Tensor]:
        q, k = self.features(query), self.features(key)
        return {"φ(q)": q, "φ(k)": k, "φ(q)·φ(k)": q * k}

    def weigh(self, scores: Tensor, mask: Tensor | None) -> Tensor:
        return functional.over_sum(functional.hide(scores, mask, 0.0))

    def weight_factors(self, scores: Tensor, key: int) -> dict[str, float]:
        total = float(scores.clamp_min(0).double().sum())
        return {
            "score": max(0.0, float(scores[key])),
            "1 / sum of the row": 1 / total if total else 0.0,
        }


@register
class Retention(WithoutSoftmax):
    """Each step of distance multiplies a score by γ: near tokens count more."""

    @dataclass(frozen=True)
    class Config(HeadsConfig):
        decay: float = decimal(
            0.75,
            "Decay γ",
            0.01,
            1.0,
            0.01,
            help="Left of a token after one step, in head 0. From head to head 1 − γ halves. "
            "Published: 1 − 2⁻⁵ ≈ 0.97. 1: nothing is forgotten.",
        )

    name = "retention"
    title = "Retention"
    does = "no softmax, older keys fade evenly"
    formula = PROJECTED + r" \\ w_{ij} = \gamma_h^{\,i-j}\, s_{ij} / \sqrt{d_k} \\ " + OUTPUT
    source = f"[Sun et al. 2023]({ARXIV}2307.08621), eq. 5; with its rotation: positions rotary"
    published_scale = "1/√d_k"
    trained_with: ClassVar[Mapping[str, Any]] = {"decay": 0.97}  # as published

    def gates(self, x: Tensor) -> tuple[Tensor | None, Tensor | None]:
        left = [1 - (1 - self.config.decay) * 2.0**-head for head in range(self.heads)]
        logs = torch.tensor([math.log(each) for each in left], dtype=x.dtype, device=x.device)
        return self.each_head(logs.expand(*x.shape[:-1], self.heads)), None


@register
class StateSpace(WithoutSoftmax):
    """A step Δ of each token says how strongly it is written, and how much is forgotten for it."""

    @dataclass(frozen=True)
    class Config(HeadsConfig):
        rate: float = decimal(
            1.0,
            "Decay rate −A",
            0.0,
            16.0,
            0.25,
            help="A step Δ of a token leaves exp(A Δ) of what was there. 0: nothing is forgotten.",
        )

    name = "state_space"
    title = "State space"
    does = "no softmax, each token sets fading"
    formula = (
        PROJECTED + r" = C_i \cdot B_j \\ w_{ij} = s_{ij}\, e^{A\sum_{j<t\le i}\Delta_t}\,\Delta_j"
        r" \\ \Delta_t = \operatorname{softplus}(x_t W_\Delta) \\ " + OUTPUT
    )
    source = f"Mamba-2, [Dao & Gu 2024]({ARXIV}2405.21060), section 3.1: C, B, X are q, k, v"
    published_scale = "none"
    usual_scale: ClassVar[Mapping[str, Value]] = {"scale": "none", **CAUSAL}
    trained_with: ClassVar[Mapping[str, Any]] = {"rate": 0.05}  # some 0.97 is left after a token

    def add_parameters(self, make: ParameterMaker) -> None:
        super().add_parameters(make)
        self.W_step = make(self.config.d_model, self.heads)

    def gates(self, x: Tensor) -> tuple[Tensor | None, Tensor | None]:
        step = self.each_head(softplus(x @ self.W_step))
        return -self.config.rate * step, step


@register
class GatedLinear(WithoutSoftmax):
    """Each token says of every dimension of the keys before it how much is forgotten."""

    @dataclass(frozen=True)
    class Config(HeadsConfig):
        temper: float = decimal(
            16.0,
            "τ",
            1.0,
            64.0,
            1.0,
            help="The gates are the τ-th root of a sigmoid: the larger, the less is forgotten. "
            "Published: 16.",
        )

    name = "gated_linear"
    title = "Gated linear attention"
    does = "no softmax, each number fades itself"
    formula = (
        PROJECTED
        + r" \\ w_{ij} = \textstyle\sum_d q_{id}\, k_{jd} \prod_{j<t\le i}\alpha_{td} / \sqrt{d_k}"
        r" \\ \alpha_t = \sigma(x_t W_\alpha)^{1/\tau} \\ " + OUTPUT
    )
    source = f"[Yang et al. 2023]({ARXIV}2312.06635), eq. 3; their W_α is a product of two"
    published_scale = "1/√d_k"

    def add_parameters(self, make: ParameterMaker) -> None:
        super().add_parameters(make)
        self.W_gate = make(self.config.d_model, self.config.d_model)

    def gates(self, x: Tensor) -> tuple[Tensor | None, Tensor | None]:
        logs = logsigmoid(x @ self.W_gate) / self.config.temper
        return functional.split_heads(logs, self.heads), None


@dataclass(frozen=True)
class DeltaConfig(HeadsConfig):
    """The settings of variants that erase."""

    beta: str = choice(
        GATES[0],
        "β, how much is replaced",
        GATES,
        help="A token writes the share β of its value, and takes back as much of what was written "
        "at keys like its own. 1: it replaces all of it. 0: it writes nothing.",
    )


@register
class DeltaRule(WithoutSoftmax):
    """A token replaces what was written before at keys like its own, so weights may be negative."""

    Config = DeltaConfig
    name = "delta"
    title = "Delta rule"
    does = "no softmax, new values replace old"
    formula = (
        PROJECTED + r" / \lVert\cdot\rVert \\ u_{ij} = \tfrac{s_{ij}}{\sqrt{d_k}} - "
        r"\textstyle\sum_{j<l\le i} u_{il}\, \beta_l\, k_l\!\cdot\! k_j"
        r" \\ w_{ij} = u_{ij}\, \beta_j, \quad \beta_j = \sigma(x_j W_\beta) \\ " + OUTPUT
    )
    source = (
        f"[Schlag et al. 2021]({ARXIV}2102.11174), eq. 23; in parallel and with norms of length "
        f"[Yang et al. 2024]({ARXIV}2406.06484), section 3"
    )
    published_scale = "1/√d_k"
    erases = True

    def add_parameters(self, make: ParameterMaker) -> None:
        super().add_parameters(make)
        self.W_beta = make(self.config.d_model, self.heads)

    def norm(self, role: str) -> RmsNorm | None:
        """Queries and keys of length 1: a mean square over d_k numbers, each then over √d_k."""
        if role == "values":
            return None
        width = self.config.d_model // self.heads
        return RmsNorm(self.W_q.new_full((width,), width**-0.5), 1e-6 / width)

    def betas(self, x: Tensor) -> Tensor:
        """Share of each token's value that is written. (…, heads, tokens, 1)."""
        own, beta = self.each_head((x @ self.W_beta).sigmoid()), self.config.beta
        return torch.full_like(own, float(beta)) if beta in ("1", "0.5", "0") else own

    def gates(self, x: Tensor) -> tuple[Tensor | None, Tensor | None]:
        return None, self.betas(x)


@register
class GatedDeltaRule(DeltaRule):
    """The delta rule with a decay: a token forgets some of everything, and replaces its own key."""

    @dataclass(frozen=True)
    class Config(DeltaConfig):
        rate: float = same_as(StateSpace.Config, "rate")

    name = "gated_delta"
    title = "Gated delta rule"
    does = "no softmax, values fade or replace"
    formula = (
        PROJECTED + r" / \lVert\cdot\rVert \\ u_{ij} = \tfrac{\Gamma_{ij}\, s_{ij}}{\sqrt{d_k}} - "
        r"\textstyle\sum_{j<l\le i} u_{il}\, \beta_l\, \Gamma_{lj}\, k_l\!\cdot\! k_j"
        r" \\ w_{ij} = u_{ij}\, \beta_j, \quad \Gamma_{ij} = e^{A\sum_{j<t\le i}\Delta_t} \\ "
        + OUTPUT
    )
    source = f"[Yang, Kautz & Hatamizadeh 2024]({ARXIV}2412.06464), eq. 10"
    trained_with = StateSpace.trained_with

    def add_parameters(self, make: ParameterMaker) -> None:
        super().add_parameters(make)
        self.W_step = make(self.config.d_model, self.heads)

    def gates(self, x: Tensor) -> tuple[Tensor | None, Tensor | None]:
        return -self.config.rate * self.each_head(softplus(x @ self.W_step)), self.betas(x)
