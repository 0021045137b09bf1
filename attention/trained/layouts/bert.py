"""BERT, and the encoders that were made after it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from torch import Tensor

from attention.core.papers import ARXIV
from attention.trained.layers import Layer, TrainedAttention
from attention.trained.layouts.base import Layout, TakesWeights
from attention.trained.models import Embedding
from attention.trained.parts import FeedForward, Norms


class Bert(Layout):
    """BERT (Devlin et al. 2019): norms after each sum, learned positions, no mask.

    names: what its files call each part of a layer.
    """

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
        """Embedding of each position; every sentence here is the first of its kind."""
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
    reference = "RobertaModel"
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
    reference = "DistilBertModel"
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
