"""Inputs of the layer by the settings: word vectors, or the pieces of a trained model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torchtext.vocab import Vectors

from attention.core.limits import limits
from attention.core.positions import sinusoidal
from attention.core.scales import Scale
from attention.core.settings import read_numbers, settings_of
from attention.core.variants import Variant
from attention.inputs.text import plain, tokenize
from attention.inputs.vectors import look_up, random_vectors
from attention.pipeline.settings import Settings
from attention.trained.layers import Layer
from attention.trained.models import LayerInput, NoWords, Pieces, Run


@dataclass(frozen=True, eq=False)
class Sentence:
    """A sentence as vectors.

    known: for each token whether it has a vector; left_out: how many tokens did not fit;
    vectors, encoding: what x (tokens, d_model) is the sum of, encoding None without positions;
    groups: where the tokens are pieces of words, which word each belongs to, None: special ones;
    aside: the pieces that are ignored, each with the word it belongs to.
    """

    tokens: tuple[str, ...]
    known: tuple[bool, ...]
    left_out: int
    vectors: Tensor
    encoding: Tensor | None
    x: Tensor
    groups: tuple[int | None, ...] | None
    aside: tuple[tuple[str, int | None], ...]

    @property
    def unknown(self) -> list[str]:
        """The words without a vector."""
        pairs = zip(self.tokens, self.known, strict=True)
        return [token for token, known in pairs if not known]


@dataclass(frozen=True, eq=False)
class TrainedLayer:
    """Place of a layer in a trained model: its position among so many; cut: heads cut out."""

    layer: Layer
    position: int
    of: int
    cut: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class Prepared:
    """Inputs of the layer by the settings.

    words: the vectors whose space the values live in, None when they live in another; trained:
    where the layer stands in a trained model, if it does; problems: what could not be used as it
    was set, in words.
    """

    sentence: Sentence
    memory: Sentence | None
    layer: Variant
    words: Vectors | None = None
    trained: TrainedLayer | None = None
    problems: tuple[str, ...] = ()

    def own_masks(self, n_queries: int, n_keys: int) -> dict[str, Tensor]:
        """The masks a trained layer was trained with, by name, (queries, keys) each."""
        return {} if self.trained is None else self.trained.layer.masks(n_queries, n_keys)

    def scale(self, settings: Settings) -> Scale | None:
        """Factor of the scores, None: as the layer has it by itself.

        At the default a trained layer is as it was trained.
        """
        default = settings_of(Settings)["scale"].default
        if self.trained is not None and settings.scale == default:
            return None
        return settings.scale_factor


def into_variant(
    settings: Settings, load_vectors: Callable[[str], Vectors], memory: str | None
) -> Prepared:
    """Word vectors, into the chosen variant."""
    vectors = None if settings.vectors == "random" else load_vectors(settings.vectors)
    sentence = read_sentence(settings, tokenize(settings.s), vectors)
    other = None if memory is None else read_sentence(settings, tokenize(memory), vectors)
    layer = settings.variant_layer(sentence.x.shape[-1])
    with torch.no_grad():
        x = (other or sentence).x
        own_words = torch.equal(layer.project(x, "values"), x[None])
    return Prepared(sentence, other, layer, vectors if own_words else None)


def into_trained_layer(settings: Settings, run_model: Callable[[str, str], Run]) -> Prepared:
    """Prepare the input of the chosen layer of the chosen model, and that layer's own attention."""
    text = plain(settings.s)
    if not text.strip():
        raise NoWords
    run = run_model(settings.model, text)
    position = min(settings.layer, len(run.inputs) - 1)
    return into_layer(settings, run.inputs[position], position, len(run.inputs))


def into_layer(settings: Settings, layer_input: LayerInput, position: int, of: int) -> Prepared:
    """Prepare the input of a layer, the one at a position among so many, and its attention."""
    problems = []
    if settings.layer > position:
        problems.append(f"There is no layer {settings.layer} of {of}; showing the last.")
    layer, attention = layer_input.layer, layer_input.layer.attention
    try:
        wanted = read_numbers(settings.cut)
    except ValueError as error:
        wanted = []
        problems.append(f"{error}; no head is cut out.")
    cut = [head for head in wanted if head < attention.heads]
    if missing := [str(head) for head in wanted if head >= attention.heads]:
        named = ", ".join(missing)[:60]
        problems.append(f"There is no head {named} of {attention.heads} to cut out.")
    if cut:
        attention = attention.without(cut)
    with torch.no_grad():
        sentence = _pieces(settings, layer_input.pieces, layer.attention_input(layer_input.x))
        memory = None
        if layer_input.memory is not None and layer_input.memory_pieces is not None:
            memory = _pieces(settings, layer_input.memory_pieces, layer_input.memory)
    trained = TrainedLayer(layer, position, of, tuple(cut))
    return Prepared(sentence, memory, attention, None, trained, tuple(problems))


def _pieces(settings: Settings, pieces: Pieces, x: Tensor) -> Sentence:
    """The pieces of a sentence and their vectors, without those that are ignored.

    Raises NoWords when there are no others.
    """
    if all(pieces.special):
        raise NoWords
    kept = pieces.kept(settings.special == "ignored")
    x = x[kept] if len(kept) < len(x) else x
    encoding = sinusoidal(*x.shape) if settings.positions == "sinusoidal" else None
    return Sentence(
        tokens=tuple(pieces.texts[position] for position in kept),
        known=(True,) * len(kept),
        left_out=pieces.left_out,
        vectors=x,
        encoding=encoding,
        x=x if encoding is None else x + encoding,
        groups=tuple(pieces.words[position] for position in kept),
        aside=tuple(
            (text, word)
            for position, (text, word) in enumerate(zip(pieces.texts, pieces.words, strict=True))
            if position not in kept
        ),
    )


def read_sentence(
    settings: Settings, everything: Sequence[str], vectors: Vectors | None
) -> Sentence:
    """The tokens of a sentence as vectors, random ones where there are none, and positions.

    Raises NoWords when there are no tokens.
    """
    tokens = everything[: limits().seen]
    if not tokens:
        raise NoWords
    if vectors is None:
        embedded = random_vectors(tokens, settings.d_model, settings.seed)
    else:
        embedded = look_up(vectors, tokens)
    encoding = sinusoidal(*embedded.x.shape) if settings.positions == "sinusoidal" else None
    return Sentence(
        tokens=tuple(tokens),
        known=embedded.known,
        left_out=len(everything) - len(tokens),
        vectors=embedded.x,
        encoding=encoding,
        x=embedded.x if encoding is None else embedded.x + encoding,
        groups=None,
        aside=(),
    )
