"""How the files of each family of models are laid out: one class each, found in `LAYOUTS`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Protocol

from torch import Tensor

from attention.core.papers import ARXIV
from attention.core.positions import Rotary
from attention.trained.layers import Layer, TrainedAttention
from attention.trained.models import Embedding, Parts
from attention.trained.parts import (
    ACTIVATIONS,
    Activation,
    FeedForward,
    GatedFeedForward,
    LayerNorm,
    Norms,
    RmsNorm,
)

LAYOUTS: dict[str, type[Layout]] = {}


class TakesWeights(Protocol):
    """Tensors by name, see `checkpoints.Checkpoint`."""

    def __contains__(self, name: str) -> bool: ...

    def take(self, name: str, *shape: int) -> Tensor: ...


class Layout:
    """Reads the parts of a model; config: its config.json.

    model_type: what config.json calls the family; source: who described it; prefix: what the
    names of tensors begin with where the model is part of a larger one; settings: what config.json
    calls each setting; defaults: what holds where it is silent; only: settings of which these
    layers can do one value alone.
    Raises ValueError where a setting is missing, or is one that cannot be done.
    """

    model_type: ClassVar[str]
    source: ClassVar[str]
    prefix: ClassVar[str]
    settings: ClassVar[Mapping[str, str]]
    defaults: ClassVar[Mapping[str, Any]] = {}
    only: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, config: Mapping[str, Any]) -> None:
        said = {name: value for name, value in config.items() if value is not None}
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
        if "model_type" in vars(cls):
            LAYOUTS[cls.model_type] = cls

    def setting(self, name: str) -> Any:
        """What config.json has for one of `settings`. Raises ValueError where it has nothing."""
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
        """What norms add to the variance. Raises ValueError unless it is a number."""
        return _number(self.settings["eps"], self.setting("eps"), 0)

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

    def embedding(self, weights: TakesWeights) -> Embedding:
        """What turns pieces into the first layer's input."""
        raise NotImplementedError

    def layer(self, weights: TakesWeights, index: int) -> Layer:
        """One layer."""
        raise NotImplementedError

    def unembedding(self, weights: TakesWeights, embedding: Embedding) -> Tensor | None:
        """The matrix that scores the next piece: its own, or the embedding's where they are tied.

        None where there is neither: the model was not trained to go on.
        """
        if "lm_head.weight" in weights:
            return weights.take("lm_head.weight", *embedding.pieces.shape).T
        return embedding.pieces.T if self.config["tie_word_embeddings"] else None

    def norm(self, weights: TakesWeights, name: str) -> LayerNorm:
        """The layer norm of that name; older files call its weight gamma and its bias beta."""
        weight, bias = (
            (f"{name}.gamma", f"{name}.beta")
            if f"{name}.gamma" in weights
            else (f"{name}.weight", f"{name}.bias")
        )
        gain, shift = (weights.take(part, self.d_model) for part in (weight, bias))
        return LayerNorm(gain, shift, self.eps)


class Bert(Layout):
    """BERT (Devlin et al. 2019): norms after each sum, learned positions, no mask.

    names: what its files call each part of a layer.
    """

    model_type = "bert"
    source = f"[Devlin et al. 2019]({ARXIV}1810.04805), BERT"
    prefix = "bert."
    settings: ClassVar[Mapping[str, str]] = {
        "d_model": "hidden_size",
        "heads": "num_attention_heads",
        "layers": "num_hidden_layers",
        "hidden": "intermediate_size",
        "activation": "hidden_act",
        "eps": "layer_norm_eps",
        "positions": "max_position_embeddings",
        "vocabulary": "vocab_size",
        "token types": "type_vocab_size",
    }
    defaults: ClassVar[Mapping[str, Any]] = {"layer_norm_eps": 1e-12}
    only: ClassVar[Mapping[str, Any]] = {
        "position_embedding_type": "absolute",
        "is_decoder": False,
        "add_cross_attention": False,
    }
    names: ClassVar[Mapping[str, str]] = {
        "layer": "encoder.layer",
        "q": "attention.self.query",
        "k": "attention.self.key",
        "v": "attention.self.value",
        "o": "attention.output.dense",
        "attention norm": "attention.output.LayerNorm",
        "1": "intermediate.dense",
        "2": "output.dense",
        "output norm": "output.LayerNorm",
    }

    def embedding(self, weights: TakesWeights) -> Embedding:
        return Embedding(
            self.table(weights, "word", "vocabulary"),
            self.positions(weights),
            self.norm(weights, "embeddings.LayerNorm"),
        )

    def positions(self, weights: TakesWeights) -> Tensor:
        """What is added for each position; every sentence here is the first of its kind."""
        positions = self.table(weights, "position", "positions")
        return positions + self.table(weights, "token_type", "token types")[0]

    def table(self, weights: TakesWeights, name: str, length: str) -> Tensor:
        """One of the tables of embeddings, (as many as that setting says, d_model)."""
        return weights.take(
            f"embeddings.{name}_embeddings.weight", self.whole(length), self.d_model
        )

    def layer(self, weights: TakesWeights, index: int) -> Layer:
        def named(part: str) -> str:
            return f"{self.names['layer']}.{index}.{self.names[part]}"

        def linear(part: str, d_in: int, d_out: int) -> tuple[Tensor, Tensor]:
            """The matrix (d_in, d_out), stored transposed, and the bias."""
            matrix = weights.take(f"{named(part)}.weight", d_out, d_in)
            return matrix.T, weights.take(f"{named(part)}.bias", d_out)

        d_model, hidden = self.d_model, self.whole("hidden")
        parameters: dict[str, Tensor] = {}
        for letter in "qkvo":
            parameters[f"W_{letter}"], parameters[f"b_{letter}"] = linear(letter, d_model, d_model)
        feed_forward = FeedForward(
            *linear("1", d_model, hidden), *linear("2", hidden, d_model), self.activation
        )
        return Layer(
            TrainedAttention(self.heads, parameters),
            Norms(after=self.norm(weights, named("attention norm"))),
            feed_forward,
            Norms(after=self.norm(weights, named("output norm"))),
        )


class Roberta(Bert):
    """RoBERTa (Liu et al. 2019): BERT whose positions are counted from behind the padding's."""

    model_type = "roberta"
    source = f"[Liu et al. 2019]({ARXIV}1907.11692), RoBERTa"
    prefix = "roberta."
    settings: ClassVar[Mapping[str, str]] = {**Bert.settings, "padding": "pad_token_id"}
    defaults: ClassVar[Mapping[str, Any]] = {"layer_norm_eps": 1e-12, "pad_token_id": 1}

    def positions(self, weights: TakesWeights) -> Tensor:
        padding, positions = self.setting("padding"), super().positions(weights)
        if not isinstance(padding, int) or not 0 <= padding < len(positions) - 1:
            raise ValueError(
                f"pad_token_id in config.json must be one of {len(positions) - 1} positions, "
                f"counted from 0, got {padding!r}"
            )
        return positions[padding + 1 :]


class DistilBert(Bert):
    """DistilBERT (Sanh et al. 2019): BERT without token types, under names of its own."""

    model_type = "distilbert"
    source = f"[Sanh et al. 2019]({ARXIV}1910.01108), DistilBERT"
    prefix = "distilbert."
    settings: ClassVar[Mapping[str, str]] = {
        "d_model": "dim",
        "heads": "n_heads",
        "layers": "n_layers",
        "hidden": "hidden_dim",
        "activation": "activation",
        "eps": "layer_norm_eps",
        "positions": "max_position_embeddings",
        "vocabulary": "vocab_size",
    }
    only: ClassVar[Mapping[str, Any]] = {}
    names: ClassVar[Mapping[str, str]] = {
        "layer": "transformer.layer",
        "q": "attention.q_lin",
        "k": "attention.k_lin",
        "v": "attention.v_lin",
        "o": "attention.out_lin",
        "attention norm": "sa_layer_norm",
        "1": "ffn.lin1",
        "2": "ffn.lin2",
        "output norm": "output_layer_norm",
    }

    def positions(self, weights: TakesWeights) -> Tensor:
        return self.table(weights, "position", "positions")


class Gpt2(Layout):
    """GPT-2 (Radford et al. 2019): norms before, a causal mask, scores of the next piece."""

    model_type = "gpt2"
    source = "[Radford et al. 2019](https://openai.com/index/better-language-models), GPT-2"
    prefix = "transformer."
    settings: ClassVar[Mapping[str, str]] = {
        "d_model": "n_embd",
        "heads": "n_head",
        "layers": "n_layer",
        "hidden": "n_inner",
        "activation": "activation_function",
        "eps": "layer_norm_epsilon",
        "positions": "n_positions",
        "vocabulary": "vocab_size",
    }
    defaults: ClassVar[Mapping[str, Any]] = {
        "layer_norm_epsilon": 1e-5,
        "activation_function": "gelu_new",
        "tie_word_embeddings": True,
    }
    only: ClassVar[Mapping[str, Any]] = {
        "scale_attn_weights": True,
        "scale_attn_by_inverse_layer_idx": False,
        "reorder_and_upcast_attn": False,
        "add_cross_attention": False,
    }

    def read(self, weights: TakesWeights) -> Parts:
        parts = super().read(weights)
        unembedding = self.unembedding(weights, parts.embedding)
        return replace(parts, final_norm=self.norm(weights, "ln_f"), unembedding=unembedding)

    def embedding(self, weights: TakesWeights) -> Embedding:
        return Embedding(
            weights.take("wte.weight", self.whole("vocabulary"), self.d_model),
            weights.take("wpe.weight", self.whole("positions"), self.d_model),
        )

    def layer(self, weights: TakesWeights, index: int) -> Layer:
        def linear(part: str, d_in: int, d_out: int) -> tuple[Tensor, Tensor]:
            """The matrix (d_in, d_out), stored as it is, and the bias."""
            name = f"h.{index}.{part}"
            return weights.take(f"{name}.weight", d_in, d_out), weights.take(f"{name}.bias", d_out)

        d_model = self.d_model
        hidden = self.whole("hidden") if "n_inner" in self.config else 4 * d_model
        joint, joint_bias = linear("attn.c_attn", d_model, 3 * d_model)
        W_o, b_o = linear("attn.c_proj", d_model, d_model)
        parameters = {"W_o": W_o, "b_o": b_o}
        for letter, W, b in zip("qkv", joint.chunk(3, dim=1), joint_bias.chunk(3), strict=True):
            parameters |= {f"W_{letter}": W, f"b_{letter}": b}
        feed_forward = FeedForward(
            *linear("mlp.c_fc", d_model, hidden),
            *linear("mlp.c_proj", hidden, d_model),
            self.activation,
        )
        return Layer(
            TrainedAttention(self.heads, parameters),
            Norms(before=self.norm(weights, f"h.{index}.ln_1")),
            feed_forward,
            Norms(before=self.norm(weights, f"h.{index}.ln_2")),
            causal=True,
        )


class Llama(Layout):
    """Llama (Touvron et al. 2023): RMS norms before, rotary positions, a gated feed-forward; heads
    that share keys and values in groups, and a causal mask."""

    model_type = "llama"
    source = f"[Touvron et al. 2023]({ARXIV}2302.13971), Llama"
    prefix = "model."
    settings: ClassVar[Mapping[str, str]] = {
        "d_model": "hidden_size",
        "heads": "num_attention_heads",
        "groups": "num_key_value_heads",
        "d_head": "head_dim",
        "layers": "num_hidden_layers",
        "hidden": "intermediate_size",
        "activation": "hidden_act",
        "eps": "rms_norm_eps",
        "positions": "max_position_embeddings",
        "vocabulary": "vocab_size",
    }
    defaults: ClassVar[Mapping[str, Any]] = {
        "hidden_act": "silu",
        "rms_norm_eps": 1e-6,
        "rope_theta": 10000.0,
        "tie_word_embeddings": False,
    }
    only: ClassVar[Mapping[str, Any]] = {"attention_bias": False, "mlp_bias": False}

    def head_width(self) -> int:
        return self.whole("d_head") if "head_dim" in self.config else super().head_width()

    @property
    def groups(self) -> int:
        """How many heads of keys and values there are. Raises ValueError unless they divide the
        heads."""
        groups = self.whole("groups") if "num_key_value_heads" in self.config else self.heads
        if self.heads % groups:
            raise ValueError(f"num_key_value_heads must divide {self.heads} heads, got {groups}")
        return groups

    @property
    def rotary(self) -> Rotary:
        """How queries and keys are rotated; newer files say it in rope_parameters. Raises
        ValueError where their rotation is stretched."""
        said = self.config.get("rope_parameters") or self.config.get("rope_scaling") or {}
        if not isinstance(said, dict):
            raise ValueError(f"rope_parameters in config.json must be an object, got {said!r}")
        kind = said.get("rope_type", said.get("type", "default"))
        if kind != "default":
            raise ValueError(f"rope_type in config.json must be 'default', got {kind!r}")
        base = said.get("rope_theta", self.config["rope_theta"])
        return Rotary(_number("rope_theta", base, 1), halves=True)

    def read(self, weights: TakesWeights) -> Parts:
        parts = super().read(weights)
        unembedding = self.unembedding(weights, parts.embedding)
        return replace(parts, final_norm=self.rms_norm(weights, "norm"), unembedding=unembedding)

    def embedding(self, weights: TakesWeights) -> Embedding:
        shape = self.whole("vocabulary"), self.d_model
        return Embedding(weights.take("embed_tokens.weight", *shape))

    def layer(self, weights: TakesWeights, index: int) -> Layer:
        d_model, hidden = self.d_model, self.whole("hidden")
        feed_forward = GatedFeedForward(
            self.linear(weights, index, "mlp.gate", d_model, hidden),
            self.linear(weights, index, "mlp.up", d_model, hidden),
            self.linear(weights, index, "mlp.down", hidden, d_model),
            self.activation,
        )
        return Layer(
            self.attention(self.parameters(weights, index)),
            Norms(before=self.rms_norm(weights, f"layers.{index}.input_layernorm")),
            feed_forward,
            Norms(before=self.rms_norm(weights, f"layers.{index}.post_attention_layernorm")),
            causal=True,
        )

    def attention(self, parameters: Mapping[str, Tensor]) -> TrainedAttention:
        """The attention of a layer, of its parameters."""
        return TrainedAttention(self.heads, parameters, rotary=self.rotary)

    def parameters(self, weights: TakesWeights, index: int) -> dict[str, Tensor]:
        """What the attention of a layer has learned, see `layers.TrainedAttention`."""
        queries, keys = self.heads * self.d_head, self.groups * self.d_head
        return {
            "W_q": self.linear(weights, index, "self_attn.q", self.d_model, queries),
            "W_k": self.linear(weights, index, "self_attn.k", self.d_model, keys),
            "W_v": self.linear(weights, index, "self_attn.v", self.d_model, keys),
            "W_o": self.linear(weights, index, "self_attn.o", queries, self.d_model),
        }

    def linear(self, weights: TakesWeights, index: int, part: str, d_in: int, d_out: int) -> Tensor:
        """A matrix of a layer, (d_in, d_out), stored transposed."""
        return weights.take(f"layers.{index}.{part}_proj.weight", d_out, d_in).T

    def rms_norm(self, weights: TakesWeights, name: str) -> RmsNorm:
        """The norm of that name."""
        return RmsNorm(weights.take(f"{name}.weight", self.d_model), self.eps)


def _number(name: str, value: Any, least: float) -> float:
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
