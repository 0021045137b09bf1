"""Llama, and the decoders that were made after it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar

from torch import Tensor

from attention.core.norms import RmsNorm
from attention.core.papers import ARXIV
from attention.core.positions import Rotary
from attention.trained.layers import KnownLayer, Layer, TrainedAttention
from attention.trained.layouts.base import Layout, TakesWeights, number
from attention.trained.models import Embedding, Parts
from attention.trained.parts import GatedFeedForward, Norms

KINDS = ("full_attention", "sliding_attention")


class Llama(Layout):
    """Llama (Touvron et al. 2023): RMS norms before, rotary positions, a gated feed-forward; heads
    that share keys and values in groups, and a causal mask.

    biased: the letters of the matrices of attention that have a bias where attention_bias is set.
    """

    model_type = "llama"
    reference = "LlamaForCausalLM"
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
        "window": "sliding_window",
    }
    defaults: ClassVar[Mapping[str, Any]] = {
        "hidden_act": "silu",
        "rms_norm_eps": 1e-6,
        "rope_theta": 10000.0,
        "tie_word_embeddings": False,
        "attention_bias": False,
        "mlp_bias": False,
    }
    biased: ClassVar[str] = "qkvo"

    def head_width(self) -> int:
        return self.whole("d_head") if "head_dim" in self.config else super().head_width()

    @property
    def groups(self) -> int:
        """Number of heads of keys and values. Raises ValueError unless it divides the number of
        heads."""
        groups = self.whole("groups") if "num_key_value_heads" in self.config else self.heads
        if self.heads % groups:
            raise ValueError(f"num_key_value_heads must divide {self.heads} heads, got {groups}")
        return groups

    def slides(self, index: int) -> bool:
        """True if attention has a window in that layer, where config.json has no layer_types."""
        return False

    def kind(self, index: int) -> str:
        """Name in config.json of attention with or without a window, in that layer. Raises
        ValueError where it is anything else."""
        kinds = self.config.get("layer_types")
        if kinds is None:
            return KINDS[self.slides(index)]
        layers = self.whole("layers")
        if not isinstance(kinds, list) or len(kinds) != layers or not {*kinds} <= {*KINDS}:
            raise ValueError(
                f"layer_types in config.json must be {layers} times {' or '.join(KINDS)}, "
                f"got {kinds!r}"
            )
        return str(kinds[index])

    def window(self, index: int) -> int | None:
        """Number of tokens a query sees to each side in that layer; config.json counts its own."""
        slides = self.kind(index) == KINDS[True] and "sliding_window" in self.config
        return self.whole("window") - 1 if slides else None

    @property
    def rotary(self) -> Rotary:
        """Rotation of queries and keys; newer files have its settings in rope_parameters. Raises
        ValueError where it is stretched in a way that is not known."""
        said = self.config.get("rope_parameters") or self.config.get("rope_scaling") or {}
        if not isinstance(said, dict):
            raise ValueError(f"rope_parameters in config.json must be an object, got {said!r}")
        said = {"rope_theta": self.config["rope_theta"], **said}
        kind = said.get("rope_type", said.get("type", "default"))
        if not isinstance(kind, str) or kind not in SLOWER:
            raise ValueError(
                f"rope_type in config.json must be one of {', '.join(map(repr, SLOWER))}, "
                f"got {kind!r}"
            )
        if said.get("partial_rotary_factor", 1) != 1:
            raise ValueError(
                "partial_rotary_factor in config.json must be 1, "
                f"got {said['partial_rotary_factor']!r}"
            )
        base = number("rope_theta", said["rope_theta"], 1)
        return Rotary(base, halves=True, slower=SLOWER[kind](said, base, self.d_head))

    def read(self, weights: TakesWeights) -> Parts:
        parts = super().read(weights)
        return replace(
            parts,
            final_norm=self.rms_norm(weights, "norm"),
            unembedding=self.unembedding(weights, parts.embedding),
        )

    def embedding(self, weights: TakesWeights) -> Embedding:
        shape = self.whole("vocabulary"), self.d_model
        return Embedding(weights.take("embed_tokens.weight", *shape))

    def layer(self, weights: TakesWeights, index: int) -> Layer:
        parameters = self.parameters(weights, index)
        return KnownLayer(
            TrainedAttention(self.heads, parameters, rotary=self.rotary, eps=self.eps),
            Norms(before=self.layer_norm(weights, index, "input")),
            self.feed_forward(weights, index),
            Norms(before=self.layer_norm(weights, index, "post_attention")),
            causal=True,
            window=self.window(index),
        )

    def feed_forward(self, weights: TakesWeights, index: int) -> GatedFeedForward:
        """The feed-forward of a layer."""
        d_model, hidden = self.d_model, self.whole("hidden")
        sizes = {"gate": (d_model, hidden), "up": (d_model, hidden), "down": (hidden, d_model)}
        gate, up, down = (
            self.linear(weights, index, f"mlp.{part}", *sizes[part]) for part in sizes
        )
        b_gate, b_up, b_down = (
            self.bias(weights, index, f"mlp.{part}", d_out) if self.config["mlp_bias"] else None
            for part, (_, d_out) in sizes.items()
        )
        return GatedFeedForward(gate, up, down, self.activation, b_gate, b_up, b_down)

    def parameters(self, weights: TakesWeights, index: int) -> dict[str, Tensor]:
        """Learned parameters of a layer's attention, see `layers.TrainedAttention`."""
        queries, keys = self.heads * self.d_head, self.groups * self.d_head
        made = {
            "W_q": self.linear(weights, index, "self_attn.q", self.d_model, queries),
            "W_k": self.linear(weights, index, "self_attn.k", self.d_model, keys),
            "W_v": self.linear(weights, index, "self_attn.v", self.d_model, keys),
            "W_o": self.linear(weights, index, "self_attn.o", queries, self.d_model),
        }
        for letter in self.biased if self.config["attention_bias"] else "":
            width = made[f"W_{letter}"].shape[1]
            made[f"b_{letter}"] = self.bias(weights, index, f"self_attn.{letter}", width)
        return made

    def linear(self, weights: TakesWeights, index: int, part: str, d_in: int, d_out: int) -> Tensor:
        """A matrix of a layer, (d_in, d_out), stored transposed."""
        return weights.take(f"layers.{index}.{part}_proj.weight", d_out, d_in).T

    def bias(self, weights: TakesWeights, index: int, part: str, d_out: int) -> Tensor:
        """The bias of a matrix of a layer, (d_out,)."""
        return weights.take(f"layers.{index}.{part}_proj.bias", d_out)

    def layer_norm(self, weights: TakesWeights, index: int, name: str) -> RmsNorm:
        """A norm of a layer."""
        return self.rms_norm(weights, f"layers.{index}.{name}_layernorm")

    def rms_norm(self, weights: TakesWeights, name: str) -> RmsNorm:
        """The norm of that name."""
        return RmsNorm(weights.take(f"{name}.weight", self.d_model), self.eps)


class Mistral(Llama):
    """Mistral (Jiang et al. 2023): Llama with a window in all layers, or in none."""

    model_type = "mistral"
    reference = "MistralForCausalLM"
    source = f"[Jiang et al. 2023]({ARXIV}2310.06825), Mistral"
    unless_null: ClassVar[Mapping[str, Any]] = {"sliding_window": 4096}

    def slides(self, index: int) -> bool:
        return True


class Qwen2(Llama):
    """Qwen2 (Yang et al. 2024): Llama with biases of queries, keys and values; where it is set, a
    window in the layers from one on."""

    model_type = "qwen2"
    reference = "Qwen2ForCausalLM"
    source = f"[Yang et al. 2024]({ARXIV}2407.10671), Qwen2"
    defaults: ClassVar[Mapping[str, Any]] = {
        **Llama.defaults,
        "attention_bias": True,
        "use_sliding_window": False,
        "max_window_layers": 28,
    }
    unless_null: ClassVar[Mapping[str, Any]] = {"sliding_window": 4096}
    biased = "qkv"

    def slides(self, index: int) -> bool:
        first = number("max_window_layers", self.config["max_window_layers"], 0)
        return bool(self.config["use_sliding_window"]) and index >= first


class Qwen3(Qwen2):
    """Qwen3 (Yang et al. 2025): norms of queries and keys, and no biases where none are set."""

    model_type = "qwen3"
    reference = "Qwen3ForCausalLM"
    source = f"[Yang et al. 2025]({ARXIV}2505.09388), Qwen3"
    defaults: ClassVar[Mapping[str, Any]] = {**Qwen2.defaults, "attention_bias": False}
    biased = Llama.biased

    def parameters(self, weights: TakesWeights, index: int) -> dict[str, Tensor]:
        made, name = super().parameters(weights, index), f"layers.{index}.self_attn"
        return made | {
            f"g_{letter}": weights.take(f"{name}.{letter}_norm.weight", self.d_head)
            for letter in "qk"
        }


def _llama3(said: Mapping[str, Any], base: float, d_head: int) -> tuple[float, ...]:
    """As the code of Llama 3.1 has it: pairs that turn fewer than `low_freq_factor` times in the
    texts of the first training are slower by `factor`, those that turn more than `high_freq_factor`
    times by nothing, and in between it goes from one to the other."""
    low, high, length, factor = (
        number(name, said.get(name), 1e-6)
        for name in (
            "low_freq_factor",
            "high_freq_factor",
            "original_max_position_embeddings",
            "factor",
        )
    )
    if low >= high:
        raise ValueError(
            f"low_freq_factor in config.json must be below high_freq_factor = {high}, got {low}"
        )
    slower = []
    for pair in range(d_head // 2):
        turns = length / (2 * math.pi * base ** (2 * pair / d_head))
        kept = min(max((turns - low) / (high - low), 0), 1)
        slower.append(1 / (kept + (1 - kept) / factor))
    return tuple(slower)


def _linear(said: Mapping[str, Any], base: float, d_head: int) -> tuple[float, ...]:
    """All pairs are slower by the same `factor` (Chen et al. 2023, eq. 3)."""
    return (number("factor", said.get("factor"), 1e-6),) * (d_head // 2)


# Each rope_type -> a function (its settings, base, d_head) -> see `Rotary.slower`.
SLOWER: Mapping[str, Callable[[Mapping[str, Any], float, int], tuple[float, ...]]] = {
    "default": lambda said, base, d_head: (),
    "linear": _linear,
    "llama3": _llama3,
}
