"""A further layout is one class: three that nobody here knows yet, put together of the parts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from attention.trained.checkpoints import check_folder, load_folder
from attention.trained.layers import Layer, TrainedAttention
from attention.trained.layouts import LAYOUTS, Llama, TakesWeights
from attention.trained.models import About, Embedding, Padded, Parts
from attention.trained.parts import Norms, RmsNorm
from tests.trained import making
from tests.trained.making import LLAMA_NORM, SENTENCES, SIZES, Family, run_theirs, write_checkpoint
from tests.trained.test_parity import assert_same_run

ABOUT = About("tiny", "Tiny", "nobody")
GROUPED = SIZES | {"num_attention_heads": 6, "num_key_value_heads": 2, "head_dim": 6}
CLOSE = {"atol": 1e-5, "rtol": 1e-5}


@pytest.fixture(autouse=True)
def _known_here_alone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The layouts of this file and their families, until the test is over."""
    before = dict(LAYOUTS)
    define()
    new = {
        "qwen2": Family(
            making.gpts, "Qwen2ForCausalLM", LLAMA_NORM, SIZES | {"num_key_value_heads": 1}
        ),
        "qwen3": Family(making.gpts, "Qwen3ForCausalLM", LLAMA_NORM, GROUPED),
        "gemma2": Family(
            making.gpts,
            "Gemma2ForCausalLM",
            LLAMA_NORM,
            GROUPED
            | {
                "sliding_window": 3,
                "query_pre_attn_scalar": 11,
                "attn_logit_softcapping": 1.5,
                "final_logit_softcapping": 2.0,
            },
        ),
    }
    monkeypatch.setattr(making, "FAMILIES", new)
    yield
    LAYOUTS.clear()
    LAYOUTS.update(before)


def define() -> None:
    """Three classes, as they would stand in layouts.py."""

    class Qwen2(Llama):
        """Biases of queries, keys and values."""

        model_type = "qwen2"

        def parameters(self, weights: TakesWeights, index: int) -> dict[str, Tensor]:
            made = super().parameters(weights, index)
            for letter in "qkv":
                name = f"layers.{index}.self_attn.{letter}_proj.bias"
                made[f"b_{letter}"] = weights.take(name, made[f"W_{letter}"].shape[1])
            return made

    class Qwen3(Llama):
        """Norms of queries and keys."""

        model_type = "qwen3"

        def parameters(self, weights: TakesWeights, index: int) -> dict[str, Tensor]:
            gains = {
                f"g_{letter}": weights.take(
                    f"layers.{index}.self_attn.{letter}_norm.weight", self.d_head
                )
                for letter in "qk"
            }
            return super().parameters(weights, index) | gains

        def attention(self, parameters: Mapping[str, Tensor]) -> TrainedAttention:
            return TrainedAttention(self.heads, parameters, rotary=self.rotary, eps=self.eps)

    class Gemma2(Llama):
        """Norms on both sides, capped scores of another scale, every other layer with a window."""

        model_type = "gemma2"
        settings: ClassVar[Mapping[str, str]] = {
            **Llama.settings,
            "activation": "hidden_activation",
        }
        defaults: ClassVar[Mapping[str, Any]] = {**Llama.defaults, "tie_word_embeddings": True}

        def read(self, weights: TakesWeights) -> Parts:
            return replace(super().read(weights), cap=self.config["final_logit_softcapping"])

        def embedding(self, weights: TakesWeights) -> Embedding:
            return replace(super().embedding(weights), scale=math.sqrt(self.d_model))

        def layer(self, weights: TakesWeights, index: int) -> Layer:
            before, after, feed_before, feed_after = (
                self.rms_norm(weights, f"layers.{index}.{name}_layernorm")
                for name in (
                    "input",
                    "post_attention",
                    "pre_feedforward",
                    "post_feedforward",
                )
            )
            return replace(
                super().layer(weights, index),
                attention_norms=Norms(before=before, added=after),
                feed_norms=Norms(before=feed_before, added=feed_after),
                window=self.config["sliding_window"] - 1 if index % 2 == 0 else None,
            )

        def attention(self, parameters: Mapping[str, Tensor]) -> TrainedAttention:
            return TrainedAttention(
                self.heads,
                parameters,
                rotary=self.rotary,
                scale=self.config["query_pre_attn_scalar"] ** -0.5,
                cap=self.config["attn_logit_softcapping"],
            )

        def rms_norm(self, weights: TakesWeights, name: str) -> RmsNorm:
            norm = super().rms_norm(weights, name)
            return replace(norm, weight=1 + norm.weight)


@pytest.mark.parametrize("name", ["qwen2", "qwen3", "gemma2"])
def test_a_layout_of_the_same_parts_agrees_with_transformers(name: str, tmp_path: Any) -> None:
    made = write_checkpoint(tmp_path / "model", name)
    check_folder(made.folder)
    model = load_folder(made.folder, ABOUT)
    for text in SENTENCES:
        run = model.run(text)
        assert_same_run(model, made.theirs, run)
        logits = run_theirs(made.theirs, run.pieces.ids).logits[0]
        assert_close(model.scores(run.hidden), logits, **CLOSE)
    with torch.no_grad():
        ids = model.pieces(SENTENCES[1]).ids
        first = [*model.forward(Padded(ids[:5]))]
        *_, last = model.forward(Padded(ids[5:]), after=first)
        assert_close(model.final(last.output), model.hidden(Padded(ids))[5:], **CLOSE)
