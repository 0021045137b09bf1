"""BART."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from torch import Tensor

from attention.core.papers import ARXIV
from attention.trained.layers import Layer, TrainedAttention
from attention.trained.layouts.base import Layout, TakesWeights
from attention.trained.models import Decoder, Embedding, Parts
from attention.trained.parts import FeedForward, Norms

SKIPPED = 2  # positions before that of the first piece


class Bart(Layout):
    """BART (Lewis et al. 2020): norms after each sum, learned positions, a causal decoder."""

    model_type = "bart"
    reference = "BartForConditionalGeneration"
    source = f"[Lewis et al. 2020]({ARXIV}1910.13461), BART"
    prefix = "model."
    settings: ClassVar[Mapping[str, str]] = {
        "d_model": "d_model",
        "heads": "encoder_attention_heads",
        "heads of the decoder": "decoder_attention_heads",
        "layers": "encoder_layers",
        "layers of the decoder": "decoder_layers",
        "hidden of the encoder": "encoder_ffn_dim",
        "hidden of the decoder": "decoder_ffn_dim",
        "activation": "activation_function",
        "eps": "layer_norm_eps",
        "positions": "max_position_embeddings",
        "vocabulary": "vocab_size",
    }
    defaults: ClassVar[Mapping[str, Any]] = {
        "activation_function": "gelu",
        "layer_norm_eps": 1e-5,
        "scale_embedding": False,
        "tie_word_embeddings": True,
        "decoder_start_token_id": 2,
        "eos_token_id": 2,
    }
    only: ClassVar[Mapping[str, Any]] = {
        "is_encoder_decoder": True,
        "normalize_before": False,
        "add_final_layer_norm": False,
        "static_position_embeddings": False,
    }

    def read(self, weights: TakesWeights) -> Parts:
        if self.whole("heads of the decoder") != self.heads:
            raise ValueError(
                f"decoder_attention_heads in config.json must be {self.heads}, as the encoder has, "
                f"got {self.whole('heads of the decoder')}"
            )
        parts = super().read(weights)
        depth = range(self.whole("layers of the decoder"))
        decoding = [each for index in depth for each in self.decoder_layers(weights, index)]
        begins = self.ids("forced_bos_token_id")
        bias = None
        if "final_logits_bias" in weights:
            bias = weights.take("final_logits_bias", 1, self.whole("vocabulary"))[0]
        return replace(
            parts,
            layers=[*parts.layers, *decoding],
            ends=self.ids("eos_token_id"),
            decoder=Decoder(
                self.embedding(weights, "decoder"),
                self.scoring(weights, parts.embedding),
                bias=bias,
                start=self.ids("decoder_start_token_id")[0],
                begins=begins[0] if begins else None,
            ),
        )

    def embedding(self, weights: TakesWeights, stack: str = "encoder") -> Embedding:
        positions = self.whole("positions") + SKIPPED
        own = f"{stack}.embed_tokens"
        return Embedding(
            weights.take(
                f"{'shared' if 'shared.weight' in weights else own}.weight",
                *(self.whole("vocabulary"), self.d_model),
            ),
            weights.take(f"{stack}.embed_positions.weight", positions, self.d_model)[SKIPPED:],
            self.norm(weights, f"{stack}.layernorm_embedding"),
            math.sqrt(self.d_model) if self.config["scale_embedding"] else None,
        )

    def layer(self, weights: TakesWeights, index: int) -> Layer:
        name = f"encoder.layers.{index}"
        return Layer(
            self.attention(weights, f"{name}.self_attn"),
            Norms(after=self.norm(weights, f"{name}.self_attn_layer_norm")),
            self.feed_forward(weights, name, self.whole("hidden of the encoder")),
            Norms(after=self.norm(weights, f"{name}.final_layer_norm")),
        )

    def decoder_layers(self, weights: TakesWeights, index: int) -> tuple[Layer, Layer]:
        """The self-attention of a decoder's layer, and its attention to the source."""
        name = f"decoder.layers.{index}"
        own = Layer(
            self.attention(weights, f"{name}.self_attn"),
            Norms(after=self.norm(weights, f"{name}.self_attn_layer_norm")),
            None,
            Norms(),
            causal=True,
            decodes=True,
        )
        cross = Layer(
            self.attention(weights, f"{name}.encoder_attn"),
            Norms(after=self.norm(weights, f"{name}.encoder_attn_layer_norm")),
            self.feed_forward(weights, name, self.whole("hidden of the decoder")),
            Norms(after=self.norm(weights, f"{name}.final_layer_norm")),
            crosses=True,
            decodes=True,
        )
        return own, cross

    def attention(self, weights: TakesWeights, name: str) -> TrainedAttention:
        """One attention."""
        parameters: dict[str, Tensor] = {}
        for letter, part in zip("qkvo", ("q", "k", "v", "out"), strict=True):
            W, b = self.linear(weights, f"{name}.{part}_proj", self.d_model, self.d_model)
            parameters |= {f"W_{letter}": W, f"b_{letter}": b}
        return TrainedAttention(self.heads, parameters)

    def feed_forward(self, weights: TakesWeights, name: str, hidden: int) -> FeedForward:
        """The feed-forward of a layer."""
        return FeedForward(
            *self.linear(weights, f"{name}.fc1", self.d_model, hidden),
            *self.linear(weights, f"{name}.fc2", hidden, self.d_model),
            self.activation,
        )

    def linear(
        self, weights: TakesWeights, name: str, d_in: int, d_out: int
    ) -> tuple[Tensor, Tensor]:
        """The matrix (d_in, d_out), stored transposed, and the bias."""
        return weights.take(f"{name}.weight", d_out, d_in).T, weights.take(f"{name}.bias", d_out)
