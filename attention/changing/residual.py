"""The residual path of a known model as a sum of parts: its votes, guesses, and why heads look."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from attention.changing.answers import Logits, piece_id, words_of
from attention.core.arguments import must_be_within
from attention.core.functional import share_heads
from attention.trained.models import Model, Run, Transformer
from attention.trained.parts import Norm


class Part(NamedTuple):
    """One of the parts that a residual path is the sum of.

    kind: "embedding", "biases" (of W_o and norms), "head", "feed-forward", or "rest" for all but
    heads; layer, head: which.
    """

    kind: str
    layer: int = -1
    head: int = -1


@dataclass(frozen=True, eq=False)
class Split:
    """A residual path as a sum: parts (parts, pieces, d_model) by their names."""

    names: tuple[Part, ...]
    parts: Tensor


@torch.no_grad()
def residual_parts(model: Model, run: Run, layer: int) -> Split:
    """The parts whose sum enters a layer, or leaves the last one where layer is their number.

    Norms on the way are taken apart as Kobayashi et al. 2021 do: each part is centred and divided
    by the spread of the whole sum, so that what norms make of the parts adds up.
    Raises ValueError where that layer or one before it is of a decoder behind an encoder.
    """
    must_be_within("layer", layer, len(run.inputs) + 1)
    inputs = run.inputs[:layer]
    if any(layer_input.layer.crosses for layer_input in run.inputs[: layer + 1]):
        raise ValueError("a residual path is split over the layers of the sentence itself alone")
    total = run.inputs[0].entered
    names, parts = [Part("embedding"), Part("biases")], torch.stack([total, total * 0])
    for at, (layer_input, ran) in enumerate(zip(inputs, model.forward(run.batch), strict=False)):
        attention = layer_input.layer.attention
        heads = attention.head_outputs(ran.trace)
        _, bias = attention.projection("output")
        if bias is not None:
            parts[1] += bias
        parts = torch.cat([parts, heads])
        parts = _through(layer_input.layer.attention_norms.after, parts, ran.middle)
        # What goes in and comes out of the feed-forward's own norms is one part with it.
        parts = torch.cat([parts, ran.fed[None]])
        names += [Part("head", at, head) for head in range(len(heads))]
        names.append(Part("feed-forward", at))
        after = layer_input.layer.feed_norms.after
        if after is not None:
            residual = ran.middle
            if layer_input.layer.attention_norms.after is not None:
                residual = layer_input.layer.attention_norms.after(residual)
            parts = _through(after, parts, residual + ran.fed)
    return Split(tuple(names), parts)


def _through(norm: Norm | None, parts: Tensor, total: Tensor) -> Tensor:
    """Pass parts through a norm of their sum, its bias added to the biases, which come second."""
    if norm is None:
        return parts
    split = norm.split(parts, total)
    bias = norm(torch.zeros_like(total[:1]))
    return torch.cat([split[:1], split[1:2] + bias, split[2:]])


@dataclass(frozen=True, eq=False)
class Votes:
    """Contribution of each part to a score, by its name; (parts,), they sum to the score."""

    names: tuple[Part, ...]
    votes: Tensor

    @property
    def heads(self) -> Tensor:
        """Contributions of the heads alone: the direct effect of each. (layers, heads)."""
        at = [index for index, name in enumerate(self.names) if name.kind == "head"]
        n_heads = 1 + max(name.head for name in self.names)
        heads: Tensor = self.votes[at].unflatten(0, (-1, n_heads))
        return heads


@torch.no_grad()
def votes_of_parts(model: Transformer, run: Run, words: Logits, position: int = -1) -> Votes:
    """The vote of each part for one piece, or for one rather than another, see `votes.votes`.

    words: see `answers.piece_id`. The last norm is taken apart as in `residual_parts`; the votes
    sum to the score, or to the difference of both (direct logit attribution, Elhage et al. 2021).
    Raises ValueError for models that were not trained to go on.
    """
    must_be_within("position", position, len(run.hidden))
    split = residual_parts(model, run, len(model.layers))
    at = split.parts[:, position : position + 1 or None]
    at = _through(model.parts.final_norm, at, at.sum(0))[:, 0]
    directions = [model.unembedding[:, piece_id(model, word)] for word in words_of(words)]
    direction = directions[0] if len(directions) == 1 else directions[0] - directions[1]
    return Votes(split.names, at @ direction)


@torch.no_grad()
def guesses(model: Transformer, run: Run, position: int = -1) -> Tensor:
    """The scores of the next piece by what enters each layer, and by what leaves the last one.

    What enters goes through the last norm and the unembedding as the last hidden state does (logit
    lens, nostalgebraist 2020). (layers + 1, vocabulary). Raises ValueError as `votes_of_parts`.
    """
    must_be_within("position", position, len(run.hidden))
    entered = [model.final(layer_input.entered[position]) for layer_input in run.inputs]
    return model.scores(torch.stack([*entered, run.hidden[position]]))


@torch.no_grad()
def score_parts(
    model: Model, run: Run, layer: int, head: int, query: int, key: int
) -> tuple[tuple[Part, ...], Tensor]:
    """One score, before the scale, split by the parts that gave to its query and to its key.

    Returns the names and (parts of the query, parts of the key), which sum to the score. Rotation
    and norms of queries and keys are linear in the parts once the spread of the sum is given.
    """
    layer_input = run.inputs[layer]
    split, attention = residual_parts(model, run, layer), layer_input.layer.attention
    sides = []
    for role, position in (("queries", query), ("keys", key)):
        at = split.parts[:, position : position + 1]
        at = _through(layer_input.layer.attention_norms.before, at, at.sum(0))
        W, bias = attention.projection(role)
        assert W is not None
        projected = at @ W
        if bias is not None:
            projected[1] += bias
        count = attention.heads if role == "queries" else attention.groups
        of_heads = projected.unflatten(-1, (count, -1)).transpose(-2, -3)
        for factor in attention.norm_terms(of_heads.sum(0), role) or ():
            of_heads = of_heads * factor
        vectors = share_heads(of_heads, attention.heads, slice(head, head + 1))[:, 0]
        rotary = attention.config.rotary
        if rotary is not None:
            vectors = rotary(vectors, position)
        sides.append(vectors[:, 0])
    return split.names, sides[0] @ sides[1].T


@torch.no_grad()
def lengths(run: Run, layer: int) -> tuple[Tensor, Tensor]:
    """The weights of a layer, and the length of what each adds. (heads, queries, keys) both.

    A weight counts for as much as ‖w v W_o‖ (Kobayashi et al. 2020): a first token or [SEP] with a
    great weight often has a value of nearly no length.
    """
    must_be_within("layer", layer, len(run.inputs))
    layer_input = run.inputs[layer]
    trace = layer_input.trace()
    W, _ = layer_input.layer.attention.projection("output")
    assert W is not None
    values = trace.values @ W.unflatten(0, (layer_input.layer.attention.heads, -1))
    return trace.applied, trace.applied * values.norm(dim=-1)[..., None, :]
