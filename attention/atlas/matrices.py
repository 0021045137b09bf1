"""Matrices of a head as they stand between embedding and unembedding, whatever its layout is.

A head adds x W_V W_O to the path for each x that it looks at. Gains of norms are folded in, and the
mean that a layer norm subtracts: that of a norm before attention into W_V, that of one behind it
into W_O, that of the last one into the unembedding (Elhage et al. 2021, "Handling layer
normalization"). The spreads that norms divide by, norms on the path itself and biases are left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import torch
from torch import Tensor

from attention.trained.adding import is_near
from attention.trained.encoder_decoder import EncoderDecoder
from attention.trained.hooked import HookedLayer
from attention.trained.layers import Layer
from attention.trained.models import Embedding, Model, Transformer
from attention.trained.parts import Norm

AT_ONCE = 4096  # pieces of the vocabulary that are embedded together


class Place(NamedTuple):
    """A place between embedding and unembedding.

    reads, writes: the paths it reads from and writes to, "encoder" or "decoder", of a model that
    has one path "encoder".
    """

    reads: str
    writes: str


@dataclass(frozen=True, eq=False)
class HeadMatrices:
    """Matrices of a head. W_V (d_model, d_v); W_O (d_v, d_model)."""

    layer: int
    head: int
    place: Place
    W_V: Tensor
    W_O: Tensor


def place_of(model: Model, layer: int) -> Place:
    """The place of a layer."""
    one = model.layers[layer]
    return Place("encoder", "decoder" if one.crosses else "encoder")


@torch.no_grad()
def matrices_of(model: Model) -> list[HeadMatrices]:
    """Matrices of all heads, by layer; none of a model whose path is no sum of known parts, and
    none of a layer whose values are no linear function of what it reads."""
    return [*_matrices(model)] if model.adds_up else []


def _matrices(model: Model) -> Iterator[HeadMatrices]:
    for at, layer in enumerate(model.layers):
        attention = layer.attention
        W_v = read_by(layer)
        W_o, _ = attention.projection("output")
        if W_v is None or W_o is None:
            continue
        of_heads = W_o.unflatten(0, (attention.heads, -1))
        of_groups = W_v.unflatten(1, (attention.groups, -1))
        for head in range(attention.heads):
            W_V = of_groups[:, head * attention.groups // attention.heads]
            yield HeadMatrices(at, head, place_of(model, at), W_V, of_heads[head])


def read_by(layer: Layer) -> Tensor | None:
    """The matrix that values of all groups are made by, None where they are no linear function of
    what is read. (d_model, groups · width)."""
    attention = layer.attention
    if isinstance(layer, HookedLayer):
        return found_by_units(layer)
    W, _ = attention.projection("values")
    if W is None or layer.crosses:  # the memory goes through no norm here
        return W
    return folded(layer.attention_norms.before, W)


def gain(norm: Norm | None, d_model: int) -> Tensor | None:
    """The matrix that a norm multiplies rows by but for their spread. (d_model, d_model)."""
    if norm is None:
        return None
    even = torch.linspace(-1, 1, d_model)
    return norm.split(torch.eye(d_model), even / even.square().mean().sqrt())


def folded(norm: Norm | None, W: Tensor) -> Tensor:
    """A matrix (d_model, n) that rows go through behind a norm, with the norm's gain."""
    before = gain(norm, W.shape[0])
    return W if before is None else before @ W


def found_by_units(layer: HookedLayer) -> Tensor | None:
    """The matrix of `read_by` but for a factor, found by unit vectors at the first position, None
    where it is no linear function of what a norm makes of the input.

    Half the difference of what is made of a vector and of its negative is free of biases.
    """
    eye = torch.eye(layer.d_model)
    generator = torch.Generator().manual_seed(layer.d_model)
    tried = torch.randn(11, layer.d_model, generator=generator)
    x = torch.cat([eye, -eye, tried, -tried])[:, None]
    read = layer.projected(x).values
    plus, minus, one, other = (
        read.transpose(-3, -2).flatten(1).split([len(eye), len(eye), len(tried), len(tried)])
    )
    W, made = (plus - minus) / 2, (one - other) / 2
    expected = tried @ W
    scales = (made * expected).sum(-1, keepdim=True) / expected.square().sum(-1, keepdim=True)
    return W if is_near(made, expected * scales) else None


@torch.no_grad()
def embedded(model: Model, path: str) -> Tensor:
    """Embeddings of all pieces on a path, positions left out. (vocabulary, d_model)."""
    embedding = model.parts.embedding
    if path == "decoder":
        assert isinstance(model, EncoderDecoder)
        embedding = model.decoder.embedding
    if isinstance(embedding, Embedding):
        embedding = replace(embedding, positions=None)
    pieces = torch.arange(len(embedding.pieces))[:, None]
    return torch.cat([embedding(some) for some in pieces.split(AT_ONCE)])[:, 0]


@torch.no_grad()
def unembedded(model: Model, place: Place) -> Tensor:
    """Matrix from what a place writes to the scores of all pieces. (d_model, vocabulary).

    Of an encoder, which has none of its own, the embedding, transposed.
    """
    if place.writes == "decoder":
        assert isinstance(model, EncoderDecoder)
        decoder = model.decoder
        rows = decoder.table[torch.arange(len(decoder.table))]
        return folded(model.parts.final_norm, rows.T)
    if isinstance(model, Transformer) and model.parts.unembedding is not None:
        return folded(model.parts.final_norm, model.parts.unembedding)
    return embedded(model, "encoder").T
