"""Runs of sentences through layers and models, computed once for all visitors."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

from attention.app.cached import kept
from attention.app.state.pages import OF_MODELS, SHARED
from attention.app.state.shared import load_model, load_vectors
from attention.app.state.view import View
from attention.core.limits import limits
from attention.figures import layer_words
from attention.inputs.text import plain, tokenize
from attention.pipeline import NoWords, Result, Settings, compute
from attention.trained.encoder_decoder import Decoded, EncoderDecoder
from attention.trained.models import Pieces, Run
from attention.trained.sources import NONE

CACHED_BYTES = 24 << 20  # a run takes up to 12 MB, one of an ordinary sentence 0.1
MODEL_BYTES = 80 << 20  # SmolLM2 over 512 pieces takes 71 MB, over 14 pieces 2, MiniLM 5 and 0.2


def no_progress(done: int, of: int) -> None:
    """Progress that nobody is told of."""


@kept(nbytes=CACHED_BYTES, together=True)
def _run(settings: Settings, memory: str | None) -> Result:
    return compute(settings, load_vectors, memory, run_model)


@kept(nbytes=MODEL_BYTES)
def run_model(name: str, text: str) -> Run:
    """A text through a trained model, as it was trained: one run serves all layers.

    Raises NoWords when there is none in it. What it takes to translate is done once.
    """
    model = load_model(name)
    if isinstance(model, EncoderDecoder):
        made = translation_of(name, text)
        return model.run_pieces(made.source, made.output)
    return model.run(text)


def result_of(settings: Settings, memory: str | None = None) -> Result:
    """The result of the settings; one run serves all heads of a layer, and all sessions.

    memory: the sentence that keys and values come from, None = the settings' own.
    Streamlit's own caches would copy the result, or spend longer on hashing the settings than
    computing takes.
    """
    run = _run(replace(settings, head=0, join="pieces"), memory)
    return run.looked_at(settings)


def current_result(view: View) -> Result | None:
    """The result of a view's settings; None while the sentence has no words."""
    return if_there_are_words(view.settings())


def if_there_are_words(settings: Settings) -> Result | None:
    try:
        return result_of(settings)
    except NoWords:
        return None


def as_trained(view: View) -> Result | None:
    """The result of the chosen head of a trained model, with all as it was trained, but for pieces
    that are ignored."""
    chosen = {name: view[name] for name in ("s", "model", "layer", "head", "join", "special")}
    return if_there_are_words(Settings(**chosen))


def whole_layer(view: View) -> Result | None:
    """The result of the chosen head of a trained model, with all as it was trained, piece by piece;
    None while the sentence has no words."""
    chosen = {name: view[name] for name in ("s", "model", "layer", "head")}
    return if_there_are_words(Settings(**chosen))


def sentence_of(view: View, *more: Hashable) -> tuple[Any, ...]:
    """All that where the heads of the chosen model look depends on. more: besides these."""
    return view["model"], plain(view["s"]), view["special"] == "ignored", *more


def run_of(settings: Settings) -> Run:
    """The sentence through the chosen trained model, as it was trained."""
    return run_model(settings.model, plain(settings.s))


@kept(32)
def translation_of(name: str, text: str) -> Decoded:
    model = load_model(name)
    assert isinstance(model, EncoderDecoder)
    return model.write(text)


def translation_by(name: str, text: str, join: str) -> tuple[Decoded, Result] | None:
    """Write over any text with the encoder-decoder of that name; None where there are no words."""
    model = load_model(name)
    assert isinstance(model, EncoderDecoder)
    aligned = if_there_are_words(Settings(text, name, len(model.layers) - 1, join=join))
    return None if aligned is None else (translation_of(name, plain(text)), aligned)


def pieces_of(view: View, text: str) -> Pieces:
    """A text in the pieces of the chosen model."""
    return load_model(view["model"]).pieces(plain(text))


def sequence_tokens(view: View) -> tuple[Sequence[str], Sequence[str]]:
    """The tokens of queries and keys on a page of one sentence."""
    settings = view.settings()
    if settings.model == NONE:
        tokens = tokenize(settings.s)
        return tokens, tokens
    result = if_there_are_words(settings)
    return (result.tokens, result.key_tokens) if result else ((), ())


def tokens_shown(view: View) -> Sequence[str]:
    """The tokens that a page of one sentence shows, from which one is chosen.

    A setting of the layer that stands not at the side of the page has its default there.
    """
    if not view.page.models:
        return ()
    settings = view.settings()
    if settings.model == NONE:
        return tokenize(settings.s)[: limits().seen]
    kept = {"s", *OF_MODELS, *view.page.beside(view)}
    usual: dict[str, Any] = {n: about.default for n, about in SHARED.items() if n not in kept}
    result = if_there_are_words(replace(settings, **usual))
    return layer_words.shown(result)[0] if result else ()
