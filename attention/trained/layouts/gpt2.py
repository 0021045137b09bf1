"""GPT-2."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from torch import Tensor

from attention.trained.layers import KnownLayer, Layer, TrainedAttention
from attention.trained.layouts.base import Layout, TakesWeights
from attention.trained.models import Embedding, Parts
from attention.trained.parts import FeedForward, Norms


class Gpt2(Layout):
    """GPT-2 (Radford et al. 2019): norms before, a causal mask, scores of the next piece."""

    model_type = "gpt2"
    reference = "GPT2LMHeadModel"
    source = "[Radford et al. 2019](https://openai.com/index/better-language-models), GPT-2"
    prefix = "transformer."
    across = True
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
        return KnownLayer(
            TrainedAttention(self.heads, parameters),
            Norms(before=self.norm(weights, f"h.{index}.ln_1")),
            feed_forward,
            Norms(before=self.norm(weights, f"h.{index}.ln_2")),
            causal=True,
        )
