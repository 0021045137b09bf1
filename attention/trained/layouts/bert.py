"""BERT."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from torch import Tensor

from attention.core.papers import ARXIV
from attention.trained.layers import KnownLayer, Layer, TrainedAttention
from attention.trained.layouts.base import Layout, TakesWeights
from attention.trained.models import Embedding
from attention.trained.parts import FeedForward, Norms


class Bert(Layout):
    """BERT (Devlin et al. 2019): norms after each sum, learned positions, no mask."""

    model_type = "bert"
    reference = "BertModel"
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
    projections: ClassVar[Mapping[str, str]] = {
        "q": "attention.self.query",
        "k": "attention.self.key",
        "v": "attention.self.value",
        "o": "attention.output.dense",
    }

    def embedding(self, weights: TakesWeights) -> Embedding:
        positions = self.table(weights, "position", "positions")
        first_of_two = self.table(weights, "token_type", "token types")[0]
        return Embedding(
            self.table(weights, "word", "vocabulary"),
            positions + first_of_two,
            self.norm(weights, "embeddings.LayerNorm"),
        )

    def table(self, weights: TakesWeights, name: str, length: str) -> Tensor:
        """One of the tables of embeddings, (as many as that setting says, d_model)."""
        return weights.take(
            f"embeddings.{name}_embeddings.weight", self.whole(length), self.d_model
        )

    def layer(self, weights: TakesWeights, index: int) -> Layer:
        name = f"encoder.layer.{index}"

        def linear(part: str, d_in: int, d_out: int) -> tuple[Tensor, Tensor]:
            """The matrix (d_in, d_out), stored transposed, and the bias."""
            matrix = weights.take(f"{name}.{part}.weight", d_out, d_in)
            return matrix.T, weights.take(f"{name}.{part}.bias", d_out)

        d_model, hidden = self.d_model, self.whole("hidden")
        parameters: dict[str, Tensor] = {}
        for letter, part in self.projections.items():
            parameters[f"W_{letter}"], parameters[f"b_{letter}"] = linear(part, d_model, d_model)
        feed_forward = FeedForward(
            *linear("intermediate.dense", d_model, hidden),
            *linear("output.dense", hidden, d_model),
            self.activation,
        )
        return KnownLayer(
            TrainedAttention(self.heads, parameters),
            Norms(after=self.norm(weights, f"{name}.attention.output.LayerNorm")),
            feed_forward,
            Norms(after=self.norm(weights, f"{name}.output.LayerNorm")),
        )
