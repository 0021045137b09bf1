"""Parts that all layouts share."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Protocol

from torch import Tensor

from attention.core.registry import check_entry
from attention.trained.layers import Layer
from attention.trained.models import Embedding, Parts, Stored
from attention.trained.parts import ACTIVATIONS, Activation, LayerNorm

LAYOUTS: dict[str, type[Layout]] = {}


class TakesWeights(Protocol):
    """Tensors by name, see `checkpoints.Checkpoint`."""

    def __contains__(self, name: str) -> bool: ...

    def take(self, name: str, *shape: int) -> Tensor: ...


class Kept(dict[str, Tensor]):
    """Tensors by name: those given, and all that are taken of others, where there are any."""

    def __init__(
        self, tensors: Mapping[str, Tensor] | None = None, others: TakesWeights | None = None
    ) -> None:
        super().__init__(tensors or {})
        self._others = others

    def __contains__(self, name: object) -> bool:
        others = self._others
        return super().__contains__(name) or (others is not None and str(name) in others)

    def take(self, name: str, *shape: int) -> Tensor:
        """The tensor of that name, see `checkpoints.Checkpoint`."""
        if self._others is not None:
            self[name] = self._others.take(name, *shape)
        return self[name]


class Layout:
    """Reads the parts of a model; config: its config.json.

    model_type: what config.json calls the family; source: who described it; reference: the class of
    transformers whose numbers it gives, which a test compares; prefix: what the names of tensors
    begin with where the model is part of a larger one; across: if matrices are stored as (d_in,
    d_out), in place of (d_out, d_in); settings: what config.json calls each
    setting; defaults: what holds where it is silent; unless_null: the same for settings whose null
    says that there is none; only: settings of which these layers can do one value alone.
    Raises ValueError where a setting is missing, or is one that cannot be done.
    """

    model_type: ClassVar[str]
    source: ClassVar[str]
    reference: ClassVar[str]
    prefix: ClassVar[str]
    across: ClassVar[bool] = False
    settings: ClassVar[Mapping[str, str]]
    defaults: ClassVar[Mapping[str, Any]] = {}
    unless_null: ClassVar[Mapping[str, Any]] = {}
    only: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, config: Mapping[str, Any]) -> None:
        all_said = {**self.unless_null, **config}
        said = {name: value for name, value in all_said.items() if value is not None}
        self.config = {**self.only, **self.defaults, **said}
        for name, value in self.only.items():
            if self.config[name] != value:
                raise ValueError(
                    f"config.json must have {name} = {value!r}, which is all that can be shown, "
                    f"got {self.config[name]!r}"
                )
        self.d_model, self.heads = self.whole("d_model"), self.whole("heads")
        self.d_head = self.head_width()

    def __init_subclass__(cls) -> None:
        """Put a layout that says its family into `LAYOUTS`.

        Raises ValueError where it lacks a part, or leaves to another family what is its own.
        """
        if "model_type" in vars(cls):
            check_entry("layout", cls, cls.model_type, LAYOUTS, own=("source", "reference"))
            LAYOUTS[cls.model_type] = cls

    def setting(self, name: str) -> Any:
        """Value in config.json of one of `settings`. Raises ValueError where it has nothing."""
        key = self.settings[name]
        if key not in self.config:
            raise ValueError(f"config.json must have {key!r}, it has not")
        return self.config[key]

    def whole(self, name: str) -> int:
        """A setting that counts something. Raises ValueError unless it is at least 1."""
        value = self.setting(name)
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise ValueError(
                f"{self.settings[name]} in config.json must be a whole number of at least 1, "
                f"got {value!r}"
            )
        return value

    def head_width(self) -> int:
        """The width of a head. Raises ValueError where heads do not divide d_model."""
        if self.d_model % self.heads:
            raise ValueError(f"heads must divide d_model = {self.d_model}, got {self.heads}")
        return self.d_model // self.heads

    @property
    def eps(self) -> float:
        """Number that norms add to the variance. Raises ValueError unless it is one."""
        return number(self.settings["eps"], self.setting("eps"), 0)

    @property
    def activation(self) -> Activation:
        """The activation that config.json names. Raises ValueError where it is unknown."""
        name = self.setting("activation")
        if not isinstance(name, str) or name not in ACTIVATIONS:
            raise ValueError(
                f"its activation must be one of {', '.join(ACTIVATIONS)}, got {name!r}"
            )
        return ACTIVATIONS[name]

    def read(self, weights: TakesWeights) -> Parts:
        """All parts. Raises ValueError where a tensor is missing or of another shape."""
        layers = [self.layer(weights, index) for index in range(self.whole("layers"))]
        embedding, limit = self.embedding(weights), self.whole("positions")
        if embedding.positions is not None:
            limit = len(embedding.positions)
        return Parts(embedding, layers, limit)

    def keep(self, weights: TakesWeights) -> Parts:
        """All parts, which know the tensors that they were read from. Raises as `read`."""
        kept = Kept(others=weights)
        parts = self.read(kept)
        stored = Stored(kept, self.prefix, lambda tensors: self.keep(Kept(tensors)), self.across)
        return replace(parts, stored=stored)

    @abstractmethod
    def embedding(self, weights: TakesWeights) -> Embedding:
        """Embedding that turns pieces into the first layer's input."""
        raise NotImplementedError

    @abstractmethod
    def layer(self, weights: TakesWeights, index: int) -> Layer:
        """One layer."""
        raise NotImplementedError

    def unembedding(self, weights: TakesWeights, embedding: Embedding) -> Tensor | None:
        """The matrix that scores the next piece: its own, or the embedding's where they are tied.

        None where there is neither: the model was not trained to go on.
        """
        if "lm_head.weight" in weights:
            return weights.take("lm_head.weight", len(embedding.pieces), self.d_model).T
        tied = embedding.pieces if self.config["tie_word_embeddings"] else None
        return tied.T if isinstance(tied, Tensor) else None

    def norm(self, weights: TakesWeights, name: str) -> LayerNorm:
        """The layer norm of that name; older files call its weight gamma and its bias beta."""
        weight, bias = (
            (f"{name}.gamma", f"{name}.beta")
            if f"{name}.gamma" in weights
            else (f"{name}.weight", f"{name}.bias")
        )
        gain, shift = (weights.take(part, self.d_model) for part in (weight, bias))
        return LayerNorm(gain, shift, self.eps)


def number(name: str, value: Any, least: float) -> float:
    """A setting that is a number. Raises ValueError unless it is one of at least `least`."""
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or not least <= value < math.inf
    ):
        raise ValueError(
            f"{name} in config.json must be a number of at least {least}, got {value!r}"
        )
    return float(value)
