"""Causal effects of heads, by ablation and patching, and their direct effect on the next piece."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import cosine_similarity

from attention.analysis.interventions import (
    Change,
    Chosen,
    Progress,
    cells_of,
    check_same_length,
    hidden,
    part_of,
)
from attention.core.arguments import must_be, must_be_within
from attention.core.functional import share_heads
from attention.trained.encoder_decoder import EncoderDecoder
from attention.trained.models import Model, Run, Transformer
from attention.trained.parts import Norm

Metric = Callable[[Tensor], Tensor]


def movement(run: Run) -> Metric:
    """Distance of the last hidden states from those of a run, for encoders.

    Returns a function hidden (…, pieces, d_model) -> the mean over the pieces of 1 - cosine, (…).
    """
    must_be("run", run, Run, how="model.run(text) gives one")
    return lambda states: 1 - cosine_similarity(states, run.hidden, dim=-1).mean(-1)


def piece_id(model: Transformer, word: int | str) -> int:
    """The id of a piece of the vocabulary: itself, or that of a text that is one piece.

    A text has its blank, as in " Mary". Raises ValueError where there is no such piece, or the text
    makes several.
    """
    if isinstance(word, str):
        pieces = model.pieces(word)
        found = [at for at, special in enumerate(pieces.special) if not special]
        if len(found) != 1:
            made = ", ".join(repr(pieces.texts[at]) for at in found)
            raise ValueError(f"a word must be one piece, {word!r} makes {len(found)}: {made}")
        return int(pieces.ids[found[0]])
    must_be("a word", word, int, str)
    vocabulary = len(model.parts.embedding.pieces)
    if not 0 <= word < vocabulary:
        raise ValueError(f"the id of a piece must lie below {vocabulary}, got {word}")
    return word


def logit_difference(
    model: Transformer, word: int | str, other: int | str, position: int = -1
) -> Metric:
    """By how much one piece's score is above another's at one position, for decoders.

    word, other: see `piece_id`. Returns a function hidden (…, pieces, d_model) -> (…).
    Raises ValueError for models that were not trained to go on, and where there is no such piece.
    """
    first, second = piece_id(model, word), piece_id(model, other)
    must_be("position", position, int)

    def difference(states: Tensor) -> Tensor:
        must_be_within("position", position, states.shape[-2])
        scores = model.scores(states[..., position, :])
        return scores[..., first] - scores[..., second]

    return difference


def written_probability(model: EncoderDecoder, run: Run) -> Metric:
    """Probability of each piece of the output, among the candidates, for encoder-decoders.

    Returns a function hidden (…, pieces, d_model) -> (…, pieces).
    """

    def probabilities(states: Tensor) -> Tensor:
        flat = states.reshape(-1, *states.shape[-2:])
        found = [model.probabilities(replace(run, hidden=one)) for one in flat]
        return torch.stack(found).reshape(states.shape[:-1])

    return probabilities


def scaled(metric: Tensor, clean: Tensor, corrupted: Tensor) -> Tensor:
    """A metric so that the clean run has 1 and the corrupted one 0 (Wang et al. 2022).

    Raises ValueError where both runs have the same: then it tells nothing.
    """
    if bool((clean == corrupted).any()):
        raise ValueError("the clean and the corrupted run must differ in the metric")
    return (metric - corrupted) / (clean - corrupted)


@dataclass(frozen=True, eq=False)
class Effects:
    """A metric of a run, and the same for each head of each layer with that head changed.

    before: of the run as it is, (…); after (layers, heads, …).
    """

    before: Tensor
    after: Tensor

    @property
    def change(self) -> Tensor:
        """By how much the change moves the metric. (layers, heads, …)."""
        return self.after - self.before

    def strongest(self, count: int) -> list[tuple[int, int]]:
        """So many (layer, head) whose change moves a metric of one number most, in order."""
        order = self.change.flatten().abs().argsort(descending=True, stable=True)
        return [divmod(at, self.after.shape[1]) for at in order[:count].tolist()]


def ablate_heads(
    model: Model,
    run: Run,
    metric: Metric,
    part: str = "output",
    *,
    to: Sequence[Tensor] | None = None,
    positions: Chosen = None,
    progress: Progress | None = None,
) -> Effects:
    """The total effect of each head: the metric of a run with a part of it set to zero or a mean.

    to: of each layer the mean (heads, 1, width), see `interventions.means`, None: zero. With means
    the first position stays as it is, unless positions say otherwise.
    """
    if to is not None:
        check_means(to, model)
        positions = slice(1, None) if positions is None else positions

    def change(layer: int, head: int) -> Change:
        number = 0.0 if to is None else to[layer][head]
        return Change(layer, part, number, [head], positions)

    return _each_head(model, run, metric, change, progress)


def check_means(means: object, model: Model) -> None:
    """Raise ValueError unless there is a tensor for each layer, (heads, 1, width), see `means`."""
    counts = [layer.attention.heads for layer in model.layers]
    several = [*means] if isinstance(means, Sequence) else []
    shapes = [tuple(each.shape) if isinstance(each, Tensor) else each for each in several]
    fits = len(shapes) == len(counts) and all(
        isinstance(shape, tuple) and len(shape) == 3 and shape[0] == count
        for shape, count in zip(shapes, counts, strict=True)
    )
    if not fits:
        came = shapes if isinstance(means, Sequence) else type(means).__name__
        raise ValueError(
            f"means must be a tensor (heads, 1, width) for each of {len(counts)} layers, as "
            f"interventions.means gives them, got {str(came)[:80]}"
        )


def patch_heads(
    model: Model,
    run: Run,
    other: Run,
    metric: Metric,
    part: str = "output",
    *,
    positions: Chosen = None,
    progress: Progress | None = None,
) -> Effects:
    """The metric of `run` with a part of each head as it is in `other`, a sentence of equal length.

    With a corrupted sentence as `run` and the clean one as `other`, it tells which heads restore
    the clean answer (activation patching, Vig et al. 2020; Wang et al. 2022).
    Raises ValueError, naming both lengths, where they differ.
    """
    check_same_length(run, other)
    there = [part_of(other, layer, part) for layer in range(len(model.layers))]

    def change(layer: int, head: int) -> Change:
        numbers = there[layer][cells_of(there[layer], [head], positions)]
        return Change(layer, part, numbers, [head], positions)

    return _each_head(model, run, metric, change, progress)


@torch.no_grad()
def _each_head(
    model: Model,
    run: Run,
    metric: Metric,
    change: Callable[[int, int], Change],
    progress: Progress | None,
) -> Effects:
    if not callable(metric):
        must_be("metric", metric, Callable, how="as movement(run) gives one")
    counts = {layer.attention.heads for layer in model.layers}
    if len(counts) > 1:
        raise ValueError(f"all layers must have as many heads, got {sorted(counts)}")
    (n_heads,) = counts
    several = [[change(at, head)] for at in range(len(model.layers)) for head in range(n_heads)]
    found = hidden(model, run, several, metric=metric, progress=progress)
    return Effects(metric(run.hidden), found.unflatten(0, (len(model.layers), n_heads)))


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
def votes(
    model: Transformer,
    run: Run,
    word: int | str,
    other: int | str | None = None,
    position: int = -1,
) -> Votes:
    """The vote of each part for one piece rather than another, through the unembedding.

    word, other: see `piece_id`; other: None = the piece by itself.
    The last norm is taken apart as in `residual_parts`; the votes sum to the difference of both
    scores, or to the one, before the cap where the model has one (direct logit attribution, Elhage
    et al. 2021).
    Raises ValueError for models that were not trained to go on.
    """
    must_be_within("position", position, len(run.hidden))
    split = residual_parts(model, run, len(model.layers))
    at = split.parts[:, position : position + 1 or None]
    at = _through(model.parts.final_norm, at, at.sum(0))[:, 0]
    direction = model.unembedding[:, piece_id(model, word)]
    if other is not None:
        direction = direction - model.unembedding[:, piece_id(model, other)]
    return Votes(split.names, at @ direction)


@torch.no_grad()
def guesses(model: Transformer, run: Run, position: int = -1) -> Tensor:
    """The scores of the next piece by what enters each layer, and by what leaves the last one.

    What enters goes through the last norm and the unembedding as the last hidden state does (logit
    lens, nostalgebraist 2020). (layers + 1, vocabulary). Raises ValueError as `votes` does.
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
