"""How the files of each family of models are laid out: one class each, found in `LAYOUTS`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from torch import Tensor

from attention.trained.layers import (
    ACTIVATIONS,
    Activation,
    FeedForward,
    Layer,
    Norm,
    TrainedAttention,
)
from attention.trained.models import Embedding

LAYOUTS: dict[str, type[Layout]] = {}


class TakesWeights(Protocol):
    """Tensors by name, see `checkpoints.Weights`."""

    def __contains__(self, name: str) -> bool: ...

    def take(self, name: str, *shape: int) -> Tensor: ...


@dataclass(frozen=True, eq=False)
class Parts:
    """What a model is made of, see `models.Transformer`."""

    embedding: Embedding
    layers: Sequence[Layer]
    final_norm: Norm | None = None
    unembedding: Tensor | None = None


class Layout:
    """Reads the parts of a model; config: its config.json.

    model_type: what config.json calls the family; prefix: what the names of tensors begin with
    where the model is part of a larger one.
    """

    model_type: ClassVar[str]
    prefix: ClassVar[str]

    def __init__(self, config: Mapping[str, Any]) -> None:
        self.config = config

    def __init_subclass__(cls) -> None:
        if "model_type" in vars(cls):
            LAYOUTS[cls.model_type] = cls

    def read(self, weights: TakesWeights) -> Parts:
        """All parts. Raises ValueError where a tensor is missing or of another shape, KeyError
        where a setting is missing in config.json."""
        raise NotImplementedError

    def activation(self, name: str) -> Activation:
        """The activation that config.json names. Raises ValueError where it is unknown."""
        if name not in ACTIVATIONS:
            raise ValueError(
                f"its activation must be one of {', '.join(ACTIVATIONS)}, got {name!r}"
            )
        return ACTIVATIONS[name]


def linear(weights: TakesWeights, name: str, d_in: int, d_out: int) -> tuple[Tensor, Tensor]:
    """The matrix (d_in, d_out) and the bias of one of torch's linear layers, stored transposed."""
    return weights.take(f"{name}.weight", d_out, d_in).T, weights.take(f"{name}.bias", d_out)


def norm(weights: TakesWeights, name: str, d_model: int, eps: float) -> Norm:
    """The layer norm of that name."""
    return Norm(weights.take(f"{name}.weight", d_model), weights.take(f"{name}.bias", d_model), eps)


class Bert(Layout):
    """BERT (Devlin et al. 2019): norms after each sum, learned positions, no mask."""

    model_type = "bert"
    prefix = "bert."

    def read(self, weights: TakesWeights) -> Parts:
        config = self.config
        d_model, eps = config["hidden_size"], config["layer_norm_eps"]
        embeddings = "embeddings"
        kinds = weights.take(
            f"{embeddings}.token_type_embeddings.weight", config["type_vocab_size"], d_model
        )
        positions = weights.take(
            f"{embeddings}.position_embeddings.weight", config["max_position_embeddings"], d_model
        )
        embedding = Embedding(
            weights.take(f"{embeddings}.word_embeddings.weight", config["vocab_size"], d_model),
            positions + kinds[0],  # every sentence here is the first of its kind
            norm(weights, f"{embeddings}.LayerNorm", d_model, eps),
        )
        layers = [self.layer(weights, index) for index in range(config["num_hidden_layers"])]
        return Parts(embedding, layers)

    def layer(self, weights: TakesWeights, index: int) -> Layer:
        """One layer."""
        config, name = self.config, f"encoder.layer.{index}"
        d_model, hidden = config["hidden_size"], config["intermediate_size"]
        eps = config["layer_norm_eps"]
        parameters: dict[str, Tensor] = {}
        for letter, part in {
            "q": "self.query",
            "k": "self.key",
            "v": "self.value",
            "o": "output.dense",
        }.items():
            W, b = linear(weights, f"{name}.attention.{part}", d_model, d_model)
            parameters |= {f"W_{letter}": W, f"b_{letter}": b}
        return Layer(
            TrainedAttention(config["num_attention_heads"], parameters),
            norm(weights, f"{name}.attention.output.LayerNorm", d_model, eps),
            FeedForward(
                *linear(weights, f"{name}.intermediate.dense", d_model, hidden),
                *linear(weights, f"{name}.output.dense", hidden, d_model),
                self.activation(config["hidden_act"]),
            ),
            norm(weights, f"{name}.output.LayerNorm", d_model, eps),
        )
