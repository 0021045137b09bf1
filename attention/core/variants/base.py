"""Base of all attention variants, their registry `VARIANTS`, and the parameters they share."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, cast

import torch
from torch import Tensor, nn

from attention.core import functional, settings
from attention.core.functional import (
    LongTrace,
    Projected,
    Sliced,
    Trace,
    merge_heads,
    split_heads,
)
from attention.core.norms import RmsNorm
from attention.core.positions import Rotary
from attention.core.registry import check_entry
from attention.core.scales import SCALES, Scale
from attention.core.settings import Value, choice, seed_setting, whole
from attention.core.weighing import SOFTMAX, Weighing

ParameterMaker = Callable[..., nn.Parameter]

VARIANTS: dict[str, type[Variant]] = {}
MAX_HEADS = 50


class Variant(nn.Module):
    """Attention of a sequence over itself, or over another. Subclasses say what differs.

    `formula` is LaTeX for the raw scores and the output; `scoring` is what makes the scores, in a
    word or two; `source` is Markdown, with a link to what it cites, see `papers`; `published_scale`
    is the scale the source uses, and a layer that is given none; "factor": a number that the source
    leaves open, as `usual_scale` has it; `usual_scale` the settings with which its weights show
    something on word vectors, `trained_with` those that a training begins with, where they are
    others; `projections` names the parameter that makes queries, keys, values or the layer's
    output, where there is one: a matrix `W_…`, with its bias `b_…` if the variant has a parameter
    of that name.
    `does` says it in six words or less, "" for none;
    `origin` says where the parameters are from: "seeded", "identity", "learned" or "typed"; ""
    where there are none. `weighing`: facts and words on what `weigh` does; `keeps_state`: whether
    one state of a fixed size can stand for all keys and values; `erases`: whether keys take values
    back that were written at keys like them, see :func:`recurrence.erased`.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    formula: ClassVar[str]
    source: ClassVar[str]
    does: ClassVar[str] = ""
    scoring: ClassVar[str] = "score"
    published_scale: ClassVar[str] = "none"
    usual_scale: ClassVar[Mapping[str, Value]] = {"scale": "1/√d_k"}
    trained_with: ClassVar[Mapping[str, Any]] = {}
    projections: ClassVar[Mapping[str, str]] = {}
    Config: ClassVar[type[settings.Config]] = settings.Config
    weighing: ClassVar[Weighing] = SOFTMAX
    keeps_state: ClassVar[bool] = False
    erases: ClassVar[bool] = False
    origin: str = ""

    def __init__(self, config: settings.Config) -> None:
        super().__init__()
        self.config: Any = config
        if isinstance(config, ParametersConfig):
            self.origin = config.parameters
            self.add_parameters(parameter_maker(config))

    def add_parameters(self, make: ParameterMaker) -> None:
        """Set the parameters, each made by `make` from its shape, always in the same order."""

    @property
    def heads(self) -> int:
        """Number of heads: as many as its settings say, 1 where they say nothing."""
        return int(getattr(self.config, "heads", 1))

    @property
    def groups(self) -> int:
        """Number of heads of keys and values; each serves `heads / groups` heads."""
        return self.heads

    @property
    def scale(self) -> Scale:
        """Factor of the scores unless told otherwise: of its settings, or as published."""
        own: Scale | None = getattr(self.config, "scale", None)
        if own is None and self.published_scale == "factor":
            own = cast(float, self.usual_scale["factor"])
        return SCALES[self.published_scale] if own is None else own

    @property
    def cap(self) -> float | None:
        """Bound that scaled scores stay below, see :func:`functional.capped`, None: no cap."""
        own: float | None = getattr(self.config, "cap", None)
        return own

    @property
    def rotary(self) -> Rotary | None:
        """Rotation of queries and keys unless told otherwise, None: none."""
        own: Rotary | None = getattr(self.config, "rotary", None)
        return own

    @property
    def has_positions(self) -> bool:
        """True if it has positions of its own, in a rotation or a bias."""
        return self.rotary is not None or self.has_bias

    @property
    def has_bias(self) -> bool:
        """True if it has learned a bias for distances, see `position_bias`."""
        return False

    def position_bias(
        self, n_queries: int, n_keys: int, first: int, rows: slice, heads: slice
    ) -> Tensor | None:
        """Bias that its own positions add to the scaled scores of some queries and heads, (heads,
        queries, keys); None: none. first: the position of the first query."""
        return None

    @property
    def heads_independent(self) -> bool:
        """True if a head can be worked out without the others."""
        mixing = type(self).before_softmax, type(self).after_softmax
        return mixing == (Variant.before_softmax, Variant.after_softmax)

    @classmethod
    def published(cls) -> str:
        """Its paper and the scale there, as Markdown."""
        scale = f"with scale {cls.published_scale}" if cls.published_scale != "none" else ""
        return f"{cls.source}. Published {scale or 'without a scale'}."

    def projection(self, role: str) -> tuple[Tensor | None, Tensor | None]:
        """The matrix and the bias for "queries", "keys", "values" or "output"; None: there is none.

        The matrix is (d_model, heads · d_head), for the output (heads · d_v, d_out).
        """
        name = self.projections.get(role, "")
        return getattr(self, name, None), getattr(self, name.replace("W", "b", 1), None)

    def project(self, x: Tensor, role: str) -> Tensor:
        """x (…, tokens, d_model) -> its queries (…, heads, tokens, d_k), keys or values (…, groups,
        tokens, width): the last of `projection_steps`."""
        return [*self.projection_steps(x, role).values()][-1]

    def projection_steps(self, x: Tensor, role: str) -> dict[str, Tensor]:
        """Queries, keys or values after their matrix, "linear", and after their norm, "normed",
        where they have one, see `project`."""
        count = self.heads if role == "queries" else self.groups
        vectors = functional.linear(x, *self.projection(role))
        made, norm = {"linear": split_heads(vectors, count)}, self.norm(role)
        if norm is not None:
            made["normed"] = norm(made["linear"])
        return made

    def norm(self, role: str) -> RmsNorm | None:
        """The norm of each head that queries or keys go through (Henry et al. 2020), None: there is
        none."""
        return None

    def norm_terms(self, vectors: Tensor, role: str) -> tuple[Tensor, Tensor] | None:
        """Two factors whose product with queries or keys (…, heads, tokens, d_k) norms these.

        Returns 1 over the root (…, heads, tokens, 1) and the gain (1, 1, d_k); None: there is no
        norm.
        """
        norm = self.norm(role)
        return None if norm is None else (1 / norm.spread(vectors), norm.weight[None, None])

    @abstractmethod
    def scores(self, queries: Tensor, keys: Tensor) -> Tensor:
        """(…, queries, d_q), (…, keys, d_k) -> raw scores (…, queries, keys).

        They follow from the vectors alone: what comes may be a few of the queries, of one head.
        """
        raise NotImplementedError

    def features(self, vectors: Tensor) -> Tensor:
        """Queries or keys as they are compared, and as a state keeps keys. (…, tokens, width)."""
        return vectors

    def gates(self, x: Tensor) -> tuple[Tensor | None, Tensor | None]:
        """Logarithms of the decay of each token of x, (…, heads, tokens, 1 or d_k), and how
        strongly it is written, (…, heads, tokens, 1), see `recurrence`; None: no such gate."""
        return None, None

    def before_softmax(self, scaled: Tensor) -> Tensor:
        """Change the scaled scores before the softmax. (…, heads, queries, keys)."""
        return scaled

    def weigh(self, scores: Tensor, mask: Tensor | None) -> Tensor:
        """Make weights of the scores, after any decay; 0 where the mask hides. (…, queries, keys).

        See :func:`functional.hide`. Who makes other weights says in `weighing` what they are.
        """
        return functional.masked_softmax(scores, mask)

    def after_softmax(self, weights: Tensor) -> Tensor:
        """Change the weights before the weighted sum. (…, heads, queries, keys)."""
        return weights

    def output(self, trace: Trace | LongTrace) -> Tensor:
        """The layer's output: all heads side by side, times W_o where there is one.

        trace: of all heads, as `forward` gives it. Returns (…, queries, d_out).
        """
        return functional.linear(merge_heads(trace.output), *self.projection("output"))

    def head_outputs(self, trace: Trace) -> Tensor:
        """Addition of each head to the output: its own, through its rows of W_o.

        trace: of all heads. Returns (…, heads, queries, d_out); the sum over the heads, and the
        bias of W_o where there is one, is `output`.
        """
        W, _ = self.projection("output")
        if W is None:
            d_v = trace.output.shape[-1]
            W = torch.eye(self.heads * d_v, dtype=trace.output.dtype, device=trace.output.device)
        parts: Tensor = trace.output @ W.unflatten(0, (self.heads, -1))
        return parts

    def score_terms(self, query: Tensor, key: Tensor) -> dict[str, Tensor]:
        """Terms of the score of one query (d_q,) and one key (d_k,): named columns.

        All are of one length; the last one adds up to the score. Empty where it has no terms.
        """
        return {}

    def mixed_score_terms(self, scaled: Tensor, head: int) -> dict[str, Tensor]:
        """Terms of `before_softmax` for one cell of a head, from the cells of all heads, (heads,).

        Named columns as in `score_terms`.
        """
        return {}

    def weight_factors(self, scores: Tensor, key: int) -> dict[str, float]:
        """Named factors of the weight of one key, where it has any.

        scores: of the keys that its query sees, (keys,); key: its place among them.
        """
        return {}

    def mixed_weight_terms(self, weights: Tensor, head: int) -> dict[str, Tensor]:
        """Terms of `after_softmax` for one cell of a head, from the cells of all heads, (heads,).

        Named columns as in `score_terms`.
        """
        return {}

    def forward(
        self,
        x: Tensor,
        mask: Tensor | None = None,
        *,
        memory: Tensor | None = None,
        scale: Scale | None = None,
        rotate: bool | None = None,
        bias: Tensor | None = None,
    ) -> Trace:
        """All steps of attention over x (…, tokens, d_model), see :func:`functional.attend`.

        The Trace has an axis of heads: scores are (…, heads, queries, keys), also with one head.
        mask: (…, queries, keys), the same for all heads; bias: (heads, queries, keys);
        memory: (…, keys, d_model), the sequence that keys and values come from, None = x itself;
        scale, rotate: see `sliced`.
        Raises ValueError when the width of x or memory is not the configured d_model.
        """
        sliced = self.sliced(
            self.projected(x, memory),
            mask,
            scale=scale,
            rotate=rotate,
            bias=lambda queries, heads: None if bias is None else bias[heads, queries],
        )
        return sliced(slice(None), slice(None))

    def projected(
        self, x: Tensor, memory: Tensor | None = None, before: Projected | None = None
    ) -> Projected:
        """Queries, keys and values of x, or keys and values of a memory, see `forward`.

        before: those of the tokens before x. Its keys and values come first; where they are those
        of the memory, they are the same ones again.
        """
        for name, sequence in (("x", x), ("memory", memory)):
            if sequence is not None and sequence.shape[-1] != self.config.d_model:
                raise ValueError(
                    f"{name} must have d_model = {self.config.d_model} dimensions, "
                    f"got {sequence.shape[-1]}"
                )
        queries = self.project(x, "queries")
        if before is not None and memory is not None:
            return replace(before, queries=queries, first=before.end)
        source = x if memory is None else memory
        keys, values = self.project(source, "keys"), self.project(source, "values")
        decay, strength = self.gates(source)
        first = 0 if before is None else before.end
        rotated = None if self.rotary is None else self.rotary(keys, first)
        if before is None:
            return Projected(queries, keys, values, first, rotated, decay, strength)
        keys, values = torch.cat([before.keys, keys], -2), torch.cat([before.values, values], -2)
        pairs = (before.rotated, rotated), (before.decay, decay), (before.strength, strength)
        rotated, decay, strength = (
            new if old is None or new is None else torch.cat([old, new], -2) for old, new in pairs
        )
        return Projected(queries, keys, values, first, rotated, decay, strength)

    def sliced(
        self,
        projected: Projected,
        mask: Tensor | None = None,
        *,
        scale: Scale | None = None,
        rotate: bool | None = None,
        bias: Callable[[slice, slice], Tensor | None] = lambda queries, heads: None,
    ) -> Sliced:
        """A function (queries, heads) -> their Trace; of some heads only where `heads_independent`.

        scale: None = the layer's own; rotate: by the layer's own `rotary`, or as in the paper where
        it has none, None = as the layer itself does, False = without its own bias too; bias: a
        function (queries, heads) -> what is added to their scaled scores besides.
        """
        scale = self.scale if scale is None else scale
        rotary = self.rotary if rotate is None else (self.rotary or Rotary()) if rotate else None
        queries, keys = projected.queries, projected.keys
        if rotary is not None:
            queries = rotary(queries, projected.first)
            keys = rotary(keys) if projected.rotated is None else projected.rotated
        shape = queries.shape[-2], keys.shape[-2], projected.first

        def added(rows: slice, heads: slice) -> Tensor | None:
            own = None if rotate is False else self.position_bias(*shape, rows, heads)
            given = bias(rows, heads)
            return own if given is None else given if own is None else own + given

        return Sliced(self, projected, queries, keys, mask, scale, added)

    def follow(self, trace: Trace, edited: Trace) -> Trace:
        """A trace of all heads of which some parts were replaced, with all that follows from them.

        See :func:`functional.follow`. Raises ValueError where queries and keys before their
        rotation were replaced, rather than these themselves.
        """
        if edited.unrotated is not trace.unrotated:
            raise ValueError("queries and keys are replaced as they are after rotation")
        return functional.follow(trace, edited, **self.how())

    def how(self) -> dict[str, Any]:
        """Arguments of :func:`functional.attend` on its scores and weights."""
        return {
            "scores": self.scores,
            "cap": self.cap,
            "before_softmax": self.before_softmax,
            "after_softmax": self.after_softmax,
            "weigh": self.weigh,
            "weighing": self.weighing,
            "features": self.features,
            "erases": self.erases,
        }


def register(variant: type[Variant]) -> type[Variant]:
    """Class decorator: put a variant into `VARIANTS` under its name; each name once.

    Raises ValueError where it lacks a part.
    """
    check_entry("variant", variant, getattr(variant, "name", ""), VARIANTS)
    if (variant.weigh is Variant.weigh) != (variant.weighing is SOFTMAX):
        raise ValueError(
            f"variant {variant.__name__} must have both weigh and weighing, or neither"
        )
    VARIANTS[variant.name] = variant
    return variant


@dataclass(frozen=True)
class ParametersConfig(settings.Config):
    """The settings of variants that have parameters."""

    parameters: str = choice(
        "seeded",
        "Parameters",
        ("seeded", "identity"),
        help="seeded: drawn at random, the same for the same seed. identity: matrices of 1 on the "
        "diagonal and 0 elsewhere, of which a square one gives back each vector as it is; a vector "
        "is 1 throughout.",
    )
    seed: int = seed_setting()


def parameter_maker(config: ParametersConfig) -> ParameterMaker:
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


class DotScores(Variant):
    """Base of the variants whose scores are dot products of queries and keys."""

    scoring = "matmul"

    def scores(self, queries: Tensor, keys: Tensor) -> Tensor:
        return functional.dot_scores(queries, keys)

    def score_terms(self, query: Tensor, key: Tensor) -> dict[str, Tensor]:
        return {"q": query, "k": key, "q·k": query * key}


@dataclass(frozen=True)
class HeadsConfig(ParametersConfig):
    """The settings of variants with several heads."""

    heads: int = whole(
        5,
        "Heads",
        1,
        MAX_HEADS,
        divides="d_model",
        help="How many heads share the dimensions; only numbers that divide them.",
    )
