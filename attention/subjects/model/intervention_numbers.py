"""Guesses of each layer, and why a head looks where it looks, computed once for all visitors."""

from __future__ import annotations

from attention.app.cached import kept
from attention.app.cached.runs import run_model
from attention.app.state.shared import load_model
from attention.inputs.text import plain
from attention.subjects.model import effect_words
from attention.subjects.model.effect_words import Guesses, Reasons
from attention.trained.models import Transformer


@kept(64)
def guesses_of(name: str, s: str) -> Guesses:
    """Guesses of each layer for the next piece, of a model that says one."""
    model = load_model(name)
    assert isinstance(model, Transformer)
    return effect_words.guesses(model, run_model(name, plain(s)))


@kept(32)
def reasons_of(model: str, s: str, layer: int, head: int, query: int, key: int) -> Reasons:
    """Why a query of a sentence looks at a key, see `effect_words.reasons`."""
    return effect_words.reasons(
        load_model(model), run_model(model, plain(s)), layer, head, query, key
    )
