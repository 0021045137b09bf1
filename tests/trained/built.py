"""A tiny model that goes on writing, built by hand: no files but its tokenizer's."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
from torch import Tensor

from attention.trained import sources
from attention.trained.layers import KnownLayer, Layer, TrainedAttention
from attention.trained.models import About, Embedding, Model, Parts, Transformer
from attention.trained.parts import FeedForward, LayerNorm, Norms
from attention.trained.pieces import Reader
from attention.trained.sources import Own, OwnModels
from tests.trained.making import bytelevel

D_MODEL, HEADS, HIDDEN, LAYERS = 15, 3, 11, 2


def writer(folder: Path, limit: int = 23, name: str = "writer") -> Transformer:
    """Causal layers that norm first, all weights random, the same each time."""
    tokenizer = bytelevel([])
    generator = torch.Generator().manual_seed(7)

    def drawn(*shape: int) -> Tensor:
        return torch.randn(shape, generator=generator)

    def norm() -> LayerNorm:
        return LayerNorm(1 + drawn(D_MODEL) / 5, drawn(D_MODEL) / 5, 1e-5)

    def layer() -> Layer:
        parameters = {f"W_{letter}": drawn(D_MODEL, D_MODEL) / 3 for letter in "qkvo"}
        parameters |= {f"b_{letter}": drawn(D_MODEL) / 3 for letter in "qkvo"}
        W_1, W_2 = drawn(D_MODEL, HIDDEN) / 3, drawn(HIDDEN, D_MODEL) / 3
        fed = FeedForward(W_1, drawn(HIDDEN), W_2, drawn(D_MODEL), torch.relu)
        attention = TrainedAttention(HEADS, parameters)
        return KnownLayer(attention, Norms(before=norm()), fed, Norms(before=norm()), causal=True)

    vectors = drawn(tokenizer.get_vocab_size(), D_MODEL)
    parts = Parts(
        Embedding(vectors, drawn(limit, D_MODEL)),
        [layer() for _ in range(LAYERS)],
        limit,
        norm(),
        vectors.T,
    )
    reader = Reader(tokenizer, limit)
    return Transformer(About(name, "Writer", "nobody"), reader, parts)


@dataclass(frozen=True)
class Built(Own):
    """A model of an owner's that is in memory already."""

    model: Model

    def read(self) -> Model:
        return self.model


def offer(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the menus offer a model by its name, as one of the owner's."""
    own = OwnModels()
    own.models = {model.about.name: Built(model.about, Path(), model)}
    monkeypatch.setattr(sources, "_OWN", own)
