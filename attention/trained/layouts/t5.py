"""T5, and what was made after it: encoders with a decoder, and a learned bias for distances."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from torch import Tensor

from attention.core.norms import RmsNorm
from attention.core.papers import ARXIV
from attention.trained.layers import Layer, TrainedAttention
from attention.trained.layouts.base import Layout, TakesWeights
from attention.trained.models import Decoder, Embedding, Parts
from attention.trained.parts import FeedForward, GatedFeedForward, Norms

GATED = "gated-"


class T5(Layout):
    """T5 (Raffel et al. 2020): RMS norms before, no biases, scores that are not scaled but have a
    bias for each range of distances, learned once for all layers."""

    model_type = "t5"
    reference = "T5ForConditionalGeneration"
    source = f"[Raffel et al. 2020]({ARXIV}1910.10683), T5"
    prefix = ""
    settings: ClassVar[Mapping[str, str]] = {
        "d_model": "d_model",
        "heads": "num_heads",
        "d_head": "d_kv",
        "layers": "num_layers",
        "layers of the decoder": "num_decoder_layers",
        "hidden": "d_ff",
        "activation": "feed_forward_proj",
        "eps": "layer_norm_epsilon",
        "positions": "n_positions",
        "vocabulary": "vocab_size",
        "buckets": "relative_attention_num_buckets",
        "furthest": "relative_attention_max_distance",
    }
    defaults: ClassVar[Mapping[str, Any]] = {
        "feed_forward_proj": "relu",
        "layer_norm_epsilon": 1e-6,
        "n_positions": 512,
        "relative_attention_num_buckets": 32,
        "relative_attention_max_distance": 128,
        "tie_word_embeddings": True,
        "pad_token_id": 0,
        "eos_token_id": 1,
    }
    only: ClassVar[Mapping[str, Any]] = {"is_encoder_decoder": True}

    def head_width(self) -> int:
        return self.whole("d_head")

    @property
    def factor(self) -> float:
        """Factor of the last hidden states before their scores: 1/√d_model in the first T5, whose
        embedding scores too."""
        scaled = self.config.get("scale_decoder_outputs", self.config["tie_word_embeddings"])
        return float(self.d_model**-0.5) if scaled else 1.0

    def read(self, weights: TakesWeights) -> Parts:
        parts = super().read(weights)
        *before, last = parts.layers
        feed_norms = replace(last.feed_norms, after=self.rms_norm(weights, "encoder.final"))
        n_decoder = "num_decoder_layers" in self.config
        depth = self.whole("layers of the decoder" if n_decoder else "layers")
        decoding = [each for at in range(depth) for each in self.decoder_layers(weights, at)]
        begins = self.ids("decoder_start_token_id") or self.ids("pad_token_id")
        return replace(
            parts,
            layers=[*before, replace(last, feed_norms=feed_norms), *decoding],
            final_norm=self.rms_norm(weights, "decoder.final"),
            ends=self.ids("eos_token_id"),
            decoder=Decoder(
                parts.embedding,
                self.scoring(weights, parts.embedding),
                self.factor,
                start=begins[0],
            ),
        )

    def embedding(self, weights: TakesWeights) -> Embedding:
        return Embedding(weights.take("shared.weight", self.whole("vocabulary"), self.d_model))

    def layer(self, weights: TakesWeights, index: int) -> Layer:
        name = f"encoder.block.{index}.layer"
        return Layer(
            self.attention(weights, f"{name}.0.SelfAttention", "encoder"),
            Norms(before=self.rms_norm(weights, f"{name}.0.")),
            self.feed_forward(weights, f"{name}.1.DenseReluDense"),
            Norms(before=self.rms_norm(weights, f"{name}.1.")),
        )

    def decoder_layers(self, weights: TakesWeights, index: int) -> tuple[Layer, Layer]:
        """The self-attention of a decoder's layer, and its attention to the source."""
        name = f"decoder.block.{index}.layer"
        own = Layer(
            self.attention(weights, f"{name}.0.SelfAttention", "decoder"),
            Norms(before=self.rms_norm(weights, f"{name}.0.")),
            None,
            Norms(),
            causal=True,
            decodes=True,
        )
        cross = Layer(
            self.attention(weights, f"{name}.1.EncDecAttention", ""),
            Norms(before=self.rms_norm(weights, f"{name}.1.")),
            self.feed_forward(weights, f"{name}.2.DenseReluDense"),
            Norms(before=self.rms_norm(weights, f"{name}.2.")),
            crosses=True,
            decodes=True,
        )
        return own, cross

    def attention(self, weights: TakesWeights, name: str, stack: str) -> TrainedAttention:
        """One attention; stack: the part whose bias for distances it has, "" for none."""
        inner = self.heads * self.d_head
        parameters = {
            f"W_{letter}": weights.take(f"{name}.{letter}.weight", inner, self.d_model).T
            for letter in "qkv"
        }
        parameters["W_o"] = weights.take(f"{name}.o.weight", self.d_model, inner).T
        if stack:
            parameters["distances"] = self.distances(weights, stack)
        furthest = self.whole("furthest")
        return TrainedAttention(
            self.heads, parameters, scale=1.0, furthest=furthest, both_sides=stack != "decoder"
        )

    def distances(self, weights: TakesWeights, stack: str) -> Tensor:
        """Bias of each bucket of distances, (buckets, heads), which the first layer has for all.
        Raises ValueError where buckets are too few for the distances."""
        buckets, furthest = self.whole("buckets"), self.whole("furthest")
        each_for_one = buckets // (4 if stack == "encoder" else 2)
        if not 1 <= each_for_one < furthest:
            raise ValueError(
                "relative_attention_num_buckets in config.json must be at least 4, and half of it "
                f"below relative_attention_max_distance = {furthest}, got {buckets}"
            )
        name = f"{stack}.block.0.layer.0.SelfAttention.relative_attention_bias.weight"
        return weights.take(name, buckets, self.heads)

    def feed_forward(self, weights: TakesWeights, name: str) -> FeedForward | GatedFeedForward:
        """The feed-forward of a layer."""
        said, sizes = str(self.setting("activation")), (self.whole("hidden"), self.d_model)

        def linear(part: str) -> Tensor:
            shape = sizes[::-1] if part == "wo" else sizes
            return weights.take(f"{name}.{part}.weight", *shape).T

        if not said.startswith(GATED):
            activation = self.activation_of(said)
            return FeedForward(linear("wi"), None, linear("wo"), None, activation)
        kind = said.removeprefix(GATED)
        activation = self.activation_of("gelu_new" if kind == "gelu" else kind)
        return GatedFeedForward(linear("wi_0"), linear("wi_1"), linear("wo"), activation)

    def rms_norm(self, weights: TakesWeights, name: str) -> RmsNorm:
        """The norm whose name begins so."""
        whole = f"{name}layer_norm.weight" if name.endswith(".") else f"{name}_layer_norm.weight"
        return RmsNorm(weights.take(whole, self.d_model), self.eps)


class Mt5(T5):
    """mT5 (Xue et al. 2021): T5 with gates, an unembedding of its own, and many languages."""

    model_type = "mt5"
    reference = "MT5ForConditionalGeneration"
    source = f"[Xue et al. 2021]({ARXIV}2010.11934), mT5"
    defaults: ClassVar[Mapping[str, Any]] = {
        **T5.defaults,
        "feed_forward_proj": "gated-gelu",
        "tie_word_embeddings": False,
    }

    @property
    def factor(self) -> float:
        return 1.0
