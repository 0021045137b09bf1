"""Heads switched off: one or several at once, and each of them in turn."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

import torch
from torch import Tensor
from torch.nn.functional import cosine_similarity

from attention.analysis.associations import mask_of
from attention.analysis.causes import Metric, written_probability
from attention.analysis.interventions import Change, Progress, exchanged, hidden
from attention.core.arguments import must_be, must_be_several, must_be_within
from attention.trained.encoder_decoder import EncoderDecoder
from attention.trained.models import Model, Pieces, Run, goes_on

Head = tuple[int, int]  # (layer, head)
Replacement = Callable[[int, Sequence[int]], Change]  # of some heads of a layer


def by_zero() -> Replacement:
    """Set the output of heads to 0, which takes what they give to every sentence away too."""
    return lambda layer, heads: Change(layer, heads=heads)


def by_mean(means: Sequence[Tensor]) -> Replacement:
    """Set the output of heads to their mean, but for the first position, see `means`.

    means: of each layer (heads, 1, width).
    """

    def change(layer: int, heads: Sequence[int]) -> Change:
        must_be_within("layer", layer, len(means))
        return Change(layer, to=means[layer][[*heads]], heads=heads, positions=slice(1, None))

    return change


def as_in(run: Run, other: Run) -> Replacement:
    """Set the output of heads to that in another run; raises ValueError as `exchanged` does."""
    return lambda layer, heads: exchanged(run, other, layer, heads=heads)


def changes(off: Collection[Head], replacement: Replacement) -> list[Change]:
    """One change for each layer that has heads switched off."""
    if not callable(replacement):
        must_be("replacement", replacement, Callable, how="as by_zero() gives one")
    must_be_several("heads that are off", off, tuple, example="[(layer, head)]")
    layers = sorted({layer for layer, _ in off})
    return [
        replacement(layer, sorted({head for at, head in off if at == layer})) for layer in layers
    ]


@torch.no_grad()
def states_without(
    model: Model, run: Run, off: Collection[Head], replacement: Replacement
) -> Tensor:
    """The last hidden states with heads switched off, (pieces, d_model).

    Layers before the first of these heads are not run again; without any it is the run's own.
    """
    if not off:
        return run.hidden
    return hidden(model, run, [changes(off, replacement)])[0]


def can_erase(model: Model, pieces: Pieces, at: int, position: int) -> bool:
    """True if a piece can be erased from a sentence: one of the text's own, and not the one that
    the answer is about, in a model that reads one sentence."""
    if isinstance(model, EncoderDecoder) or pieces.words[at] is None:
        return False
    asked = position % len(pieces.ids)
    return at != asked and (model.layers[0].causal or mask_of(model) is not None)


def without_piece(model: Model, pieces: Pieces, at: int) -> Pieces:
    """A sentence without one of its pieces: the mask token in its place where the model has one,
    as an encoder was trained to read it; else it is left out, and those behind it move up."""
    mask = None if model.layers[0].causal else mask_of(model)
    if mask is not None:
        ids = pieces.ids.clone()
        ids[at] = mask
        return replace(pieces, ids=ids)
    left = [each for each in range(len(pieces.ids)) if each != at]
    texts = tuple(pieces.texts[each] for each in left)
    words = tuple(pieces.words[each] for each in left)
    return Pieces(pieces.ids[left], texts, words, pieces.left_out)


def answer_at(model: Model, run: Run, position: int) -> tuple[Metric, int | None]:
    """The number that a model's answer at a position is judged by, and the piece it is about.

    For models that say a next piece: the probability of the likeliest one; for encoder-decoders:
    that of the piece they wrote there; for others: 1 - cosine between the position's vector and the
    run's own, 0 before anything is changed, with None for the piece. The metric takes
    (…, pieces, d_model) and returns (…).
    """
    must_be_within("position", position, len(run.hidden))
    if isinstance(model, EncoderDecoder):
        written = run.inputs[-1].pieces
        probabilities = written_probability(model, run)
        return lambda states: probabilities(states)[..., position], int(written.ids[position])
    if goes_on(model):
        piece = int(model.scores(run.hidden[position]).argmax())
        return (
            lambda states: model.scores(states[..., position, :]).softmax(-1)[..., piece],
            piece,
        )
    before = run.hidden[position]
    return (
        lambda states: 1 - cosine_similarity(states[..., position, :], before, dim=-1),
        None,
    )


@torch.no_grad()
def layer_effects(
    model: Model,
    run: Run,
    layer: int,
    metric: Metric,
    replacement: Replacement,
    off: Collection[Head] = (),
    progress: Progress | None = None,
) -> Tensor:
    """By how much the metric changes as each head of a layer is switched off too. (heads,).

    off: heads that are switched off already; switching one of these off again changes nothing.
    """
    must_be_within("layer", layer, len(model.layers))
    n_heads = model.layers[layer].attention.heads
    several = [changes({*off, (layer, head)}, replacement) for head in range(n_heads)]
    before = metric(states_without(model, run, off, replacement))
    return metric(hidden(model, run, several, progress=progress)) - before
