"""The registry of attention variants: one class each, found by name in `VARIANTS`.

A variant is its `Config` (what can be set), `project` (x -> queries, keys, values) and `scores`
(queries, keys -> scores); `forward` is the same for all. Menus, widgets, links, citations and
tests follow from the registry. Modules keep parameters and no activations.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from attention import functional, params
from attention.functional import Trace
from attention.params import seed_setting, setting
from attention.positions import rotary

VARIANTS: dict[str, type[Variant]] = {}


class Variant(nn.Module):
    """Attention of a sequence over itself. Subclasses say what differs.

    `formula` is LaTeX for the raw scores and the output; `published_scale` is the scale the
    source uses; `projections` names the parameter that makes queries, keys or values from x,
    where there is one.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    formula: ClassVar[str]
    source: ClassVar[str]
    published_scale: ClassVar[str] = "none"
    projections: ClassVar[dict[str, str]] = {}
    Config: ClassVar[type[params.Config]] = params.Config

    def __init__(self, config: params.Config) -> None:
        super().__init__()
        self.config: Any = config

    def project(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """x (…, tokens, d_model) -> queries (…, tokens, d_q), keys (…, tokens, d_k), values."""
        return x, x, x

    def scores(self, queries: Tensor, keys: Tensor) -> Tensor:
        """(…, queries, d_q), (…, keys, d_k) -> raw scores (…, queries, keys)."""
        raise NotImplementedError

    def head(self, index: int) -> Variant:
        """One head as a variant of its own, whose output is what it adds to this one's."""
        return self

    def score_terms(self, query: Tensor, key: Tensor) -> dict[str, Tensor]:
        """How the score of one query (d_q,) and one key (d_k,) comes about: named columns.

        All are of one length; the last one adds up to the score. Empty where it has no terms.
        """
        return {}

    def forward(
        self,
        x: Tensor,
        mask: Tensor | None = None,
        *,
        scale: float | None = None,
        rotate: bool = False,
        bias: Tensor | None = None,
        dropout: float = 0.0,
        generator: torch.Generator | None = None,
    ) -> Trace:
        """All steps of attention over x (…, tokens, d_model); see :func:`functional.attend`.

        rotate: turn queries and keys by their position, see :func:`positions.rotary`.
        Raises ValueError when the width of x is not the configured d_model.
        """
        if x.shape[-1] != self.config.d_model:
            raise ValueError(
                f"x must have d_model = {self.config.d_model} dimensions, got {x.shape[-1]}"
            )
        queries, keys, values = self.project(x)
        if rotate:
            queries, keys = rotary(queries), rotary(keys)
        return functional.attend(
            queries,
            keys,
            values,
            scores=self.scores,
            scale=scale,
            bias=bias,
            mask=mask,
            dropout=dropout,
            generator=generator,
        )


def register(variant: type[Variant]) -> type[Variant]:
    """Class decorator: put a variant into `VARIANTS` under its name; each name once."""
    if variant.name in VARIANTS:
        raise ValueError(f"variant {variant.name!r} is registered already")
    VARIANTS[variant.name] = variant
    return variant


@dataclass(frozen=True)
class ParametersConfig(params.Config):
    """The settings of variants that have parameters."""

    parameters: str = setting(
        "seeded",
        "Parameters",
        options=("seeded", "identity"),
        help="Seeded: drawn at random, the same for the same seed. Identity: they change nothing.",
    )
    seed: int = seed_setting()


def parameter_maker(config: ParametersConfig) -> Callable[..., nn.Parameter]:
    """A function that makes one parameter of a given shape after the other.

    Seeded ones are uniform in ±√(6 / (rows + columns)) (Glorot & Bengio 2010, eq. 16), from a
    generator of their own and by steps that are exact on every machine. Identity ones are 1 on
    the diagonal (all ones for a vector).
    """
    generator = torch.Generator().manual_seed(config.seed)

    def make(*shape: int) -> nn.Parameter:
        if config.parameters == "identity":
            return nn.Parameter(torch.eye(*shape) if len(shape) == 2 else torch.ones(shape))
        bound = math.sqrt(6 / (sum(shape) if len(shape) == 2 else shape[0] + 1))
        return nn.Parameter((torch.rand(shape, generator=generator) * 2 - 1) * bound)

    return make


@register
class DotProduct(Variant):
    """Self-attention without parameters: y = softmax(X Xᵀ) X."""

    name = "dot"
    title = "Dot-product self-attention"
    formula = r"s_{ij} = x_i \cdot x_j \\ y_i = \sum_j w_{ij}\, x_j"
    source = "Luong et al. 2015, “dot”; with 1/√d_k, Vaswani et al. 2017, eq. 1 with Q = K = V = X"

    def scores(self, queries: Tensor, keys: Tensor) -> Tensor:
        return functional.dot_scores(queries, keys)

    def score_terms(self, query: Tensor, key: Tensor) -> dict[str, Tensor]:
        return {"q": query, "k": key, "q·k": query * key}


@register
class QueryKeyValue(Variant):
    """Scaled dot-product attention over learned projections."""

    @dataclass(frozen=True)
    class Config(ParametersConfig):
        d_k: int = setting(
            50, "d_k", minimum=1, maximum=128, step=1, help="Width of queries and keys."
        )
        d_v: int = setting(50, "d_v", minimum=1, maximum=128, step=1, help="Width of values.")

    name = "qkv"
    title = "Query, key and value"
    formula = r"s_{ij} = (x_i W_q) \cdot (x_j W_k) \\ y_i = \sum_j w_{ij}\, x_j W_v"
    source = "Vaswani et al. 2017, eq. 1"
    published_scale = "1/√d_k"
    projections: ClassVar[dict[str, str]] = {"queries": "W_q", "keys": "W_k", "values": "W_v"}

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        make = parameter_maker(config)
        self.W_q = make(config.d_model, config.d_k)
        self.W_k = make(config.d_model, config.d_k)
        self.W_v = make(config.d_model, config.d_v)

    def project(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        return x @ self.W_q, x @ self.W_k, x @ self.W_v

    def scores(self, queries: Tensor, keys: Tensor) -> Tensor:
        return functional.dot_scores(queries, keys)

    def score_terms(self, query: Tensor, key: Tensor) -> dict[str, Tensor]:
        return {"q": query, "k": key, "q·k": query * key}


class Head(QueryKeyValue):
    """One head of :class:`MultiHeadAttention`: its slices, W_o merged into the value matrix.

    (w V_h) W_o_h = w (V_h W_o_h), so its output is what the head adds to the output of all.
    """

    def __init__(self, config: params.Config, W_q: Tensor, W_k: Tensor, W_v: Tensor) -> None:
        Variant.__init__(self, config)
        self.W_q, self.W_k, self.W_v = (nn.Parameter(W.detach()) for W in (W_q, W_k, W_v))


class MultiHeadAttention(QueryKeyValue):
    """Several heads side by side, each on its own slice of d_model; W_o mixes what they find."""

    @dataclass(frozen=True)
    class Config(ParametersConfig):
        heads: int = setting(
            5,
            "Heads",
            minimum=1,
            maximum=50,
            step=1,
            divides="d_model",
            help="How many heads share the dimensions; only numbers that divide them.",
        )

        def __post_init__(self) -> None:
            super().__post_init__()
            if self.d_model % self.heads:
                raise ValueError(f"heads must divide d_model = {self.d_model}, got {self.heads}")

    name = "multihead"
    title = "Multi-head attention"
    formula = (
        r"s^h_{ij} = (x_i W_q^h) \cdot (x_j W_k^h)"
        r" \\ y_i = \sum_h \sum_j w^h_{ij}\, x_j W_v^h\, W_o^h"
    )
    source = "Vaswani et al. 2017, section 3.2.2"
    published_scale = "1/√d_k"

    def __init__(self, config: Config) -> None:
        Variant.__init__(self, config)
        make = parameter_maker(config)
        self.W_q, self.W_k, self.W_v, self.W_o = (
            make(config.d_model, config.d_model) for _ in range(4)
        )

    def project(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        heads: int = self.config.heads
        queries, keys, values = (
            functional.split_heads(x @ W, heads) for W in (self.W_q, self.W_k, self.W_v)
        )
        return queries, keys, values

    def merge(self, trace: Trace) -> Tensor:
        """The output of all heads together, through W_o. (…, tokens, d_model)."""
        return functional.merge_heads(trace.output) @ self.W_o

    def head(self, index: int) -> Head:
        """One head as a variant of its own. Raises IndexError when there is none such."""
        if not 0 <= index < self.config.heads:
            raise IndexError(f"there are {self.config.heads} heads, got {index}")
        d_head = self.config.d_model // self.config.heads
        part = slice(index * d_head, (index + 1) * d_head)
        merged = self.W_v[:, part] @ self.W_o[part]
        return Head(self.config, self.W_q[:, part], self.W_k[:, part], merged)


@register
class Additive(Variant):
    """A small network with one hidden layer scores each pair."""

    @dataclass(frozen=True)
    class Config(ParametersConfig):
        d_hidden: int = setting(
            16, "Hidden units", minimum=1, maximum=128, step=1, help="Width of the tanh layer."
        )

    name = "additive"
    title = "Additive attention"
    formula = r"s_{ij} = v^\top \tanh(x_i W_q + x_j W_k) \\ y_i = \sum_j w_{ij}\, x_j"
    source = "Bahdanau et al. 2015, appendix A.1.2"

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        make = parameter_maker(config)
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
    formula = r"s_{ij} = x_i\, W\, x_j^\top \\ y_i = \sum_j w_{ij}\, x_j"
    source = "Luong et al. 2015, “general”"

    def __init__(self, config: ParametersConfig) -> None:
        super().__init__(config)
        self.W = parameter_maker(config)(config.d_model, config.d_model)

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
    formula = (
        r"s_{ij} = \frac{x_i \cdot x_j}{\lVert x_i\rVert\,\lVert x_j\rVert}"
        r" \\ y_i = \sum_j w_{ij}\, x_j"
    )
    source = "Graves et al. 2014, eq. 6; their key strength β is the factor of the scale"
    published_scale = "factor"

    def scores(self, queries: Tensor, keys: Tensor) -> Tensor:
        return functional.cosine_scores(queries, keys)

    def score_terms(self, query: Tensor, key: Tensor) -> dict[str, Tensor]:
        q, k = normalize(query, dim=0), normalize(key, dim=0)
        return {"q / ‖q‖": q, "k / ‖k‖": k, "product": q * k}


@register
class Gaussian(Variant):
    """Nadaraya–Watson attention pooling: near keys count, far ones do not."""

    @dataclass(frozen=True)
    class Config(params.Config):
        sigma: float = setting(
            1.0, "σ", minimum=0.1, maximum=10.0, step=0.1, help="Width of the Gaussian kernel."
        )

    name = "gaussian"
    title = "Gaussian kernel attention"
    formula = (
        r"s_{ij} = -\frac{\lVert x_i - x_j\rVert^2}{2\sigma^2}"
        r" \\ y_i = \sum_j w_{ij}\, x_j"
    )
    source = "Nadaraya 1964; Watson 1964"

    def scores(self, queries: Tensor, keys: Tensor) -> Tensor:
        return functional.gaussian_scores(queries, keys, self.config.sigma)

    def score_terms(self, query: Tensor, key: Tensor) -> dict[str, Tensor]:
        terms = -(query - key).square() / (2 * self.config.sigma**2)
        return {"q": query, "k": key, "−(q − k)² / 2σ²": terms}
