"""Makers for the tests of the lessons: small layers, results of sentences, published numbers."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torchtext.vocab import Vectors

from attention.core.functional import dot_scores
from attention.core.norms import RmsNorm
from attention.core.positions import Rotary
from attention.core.settings import Config, settings_of
from attention.core.variants import VARIANTS, GroupedQuery, MultiHead, ParameterMaker, Variant
from attention.figures.matrix import Matrix
from attention.pipeline import Result, Settings, compute

GOLDENS: dict[str, Any] = json.loads(
    (Path(__file__).parents[3] / "goldens.json").read_text("utf-8")
)
HEADS, GROUPS = 4, 2
SIZES = {"heads": HEADS, "groups": GROUPS, "d_k": 3, "d_v": 5, "d_hidden": 7, "seed": 5}


class Plain(Variant):
    """A variant that brings nothing but what it must."""

    title = "Plain"
    formula = r"s_{ij} = x_i \cdot x_j \\ y_i = \sum_j w_{ij}\, x_j"

    def scores(self, queries: Tensor, keys: Tensor) -> Tensor:
        return dot_scores(queries, keys)


class Biased(MultiHead):
    """Several heads, each of whose projections has a bias."""

    def add_parameters(self, make: ParameterMaker) -> None:
        super().add_parameters(make)
        for name in ("b_q", "b_k", "b_v", "b_o"):
            setattr(self, name, make(self.config.d_model))


class Rotating(GroupedQuery):
    """Heads in groups that rotate queries and keys by themselves, as those of Llama do."""

    rotary = Rotary(700.0, halves=True)


class Normed(Rotating):
    """Variant whose queries and keys go through a norm of each head, as those of Qwen3 do."""

    def norm(self, role: str) -> RmsNorm | None:
        width = self.config.d_model // self.heads
        gain = torch.linspace(0.5, 2.0, width) * (1 if role == "queries" else -1)
        return None if role == "values" else RmsNorm(gain, 1e-2)


LAYERS: dict[str, type[Variant]] = VARIANTS | {"plain": Plain, "biased": Biased}


OTHERS: dict[str, type[Variant]] = {"rotating": Rotating, "normed": Normed}


def layer_of(name: str, d_model: int, **sizes: int) -> Variant:
    """A layer with sizes that are all different, as far as the variant has them."""
    variant = (LAYERS | OTHERS)[name]
    schema: type[Config] = variant.Config
    declared = settings_of(schema)
    known: dict[str, Any] = {n: size for n, size in (SIZES | sizes).items() if n in declared}
    return variant(schema(d_model=d_model, **known))


def drawn(*shape: int, seed: int = 0) -> Tensor:
    """Numbers of any sign, the same for the same seed."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def matrices(parts: Iterable[object]) -> list[Matrix]:
    """The matrices among what is shown in a row."""
    return [part for part in parts if isinstance(part, Matrix)]


def shown(text: str) -> float:
    """A number as it is read from a table."""
    if text in ("∞", "−∞"):
        return math.inf if text == "∞" else -math.inf
    return float(text.replace("−", "-"))


def no_vectors(name: str) -> Vectors:
    """Stands where word vectors would be loaded, and may not be."""
    pytest.fail(f"asked for the vectors {name}")


def result_of(s: str = "a b c d e", memory: str | None = None, /, **settings: Any) -> Result:
    """Result of a sentence of random vectors."""
    plain: dict[str, Any] = {"vectors": "random", "d_model": 7}
    return compute(Settings(**plain | settings | {"s": s}), no_vectors, memory)
