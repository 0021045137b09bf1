"""A beside B, and one setting over its range."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import replace

from torch import Tensor
from torch.nn.functional import cosine_similarity

from attention.analysis import sweeps
from attention.analysis.sweeps import Sweep
from attention.app.cached import kept
from attention.app.cached.runs import if_there_are_words, result_of, run_of
from attention.app.state.links import every_setting
from attention.app.state.shared import load_model
from attention.app.state.sides import OTHER
from attention.app.state.view import View
from attention.figures import layer_words
from attention.pipeline import Result, Settings
from attention.subjects.compare import words
from attention.subjects.compare.words import Comparison
from attention.trained.models import goes_on
from attention.trained.sources import NONE


def both_sides(view: View) -> tuple[Comparison, tuple[Result, Result]] | None:
    """A beside B, or one sentence beside another, with the results of both.

    None while a sentence has no words.
    """
    settings, pair = view.settings(), view["compare"] == "pair"
    second = view["s2"] if pair else settings.s
    theirs = replace(settings, s=second) if pair else view.settings(OTHER)
    a, b = map(if_there_are_words, (settings, theirs))
    if a is None or b is None or a.memory is not None:
        return None
    (tokens, _, ours), (other_tokens, _, others) = map(layer_words.shown, (a, b))
    if pair or tokens != other_tokens:
        return words.of_sentences(tokens, ours, other_tokens, others), (a, b)
    return words.of_settings(tokens, ours, others), (a, b)


def changed_states(view: View) -> dict[str, Tensor]:
    """The last hidden states of the chosen model with A and B, by name, where these change it."""
    now = both_sides(view)
    if now is None or view["model"] == NONE:
        return {}
    sides = zip("AB", now[1], strict=True)
    return {side: _states(result.settings) for side, result in sides if result.changes}


@kept(16, key=lambda settings: replace(settings, head=0, join="pieces"))  # up to 1.2 MB each
def _states(settings: Settings) -> Tensor:
    model, run = load_model(settings.model), run_of(settings)
    return layer_words.changed_states(model, run, result_of(settings))


def output_cosines(
    view: View, states: Mapping[str, Tensor]
) -> tuple[Sequence[str], dict[str, Tensor]]:
    """Distances by which A and B move the chosen model's output: its names, and cosines of each.

    states: see `changed_states`.
    """
    run = run_of(view.settings())
    cosines = {
        side: cosine_similarity(hidden, run.hidden, dim=-1) for side, hidden in states.items()
    }
    return run.inputs[-1].pieces.texts, cosines


def following(
    view: View, states: Mapping[str, Tensor]
) -> tuple[list[str], Mapping[str, Sequence[float]]] | None:
    """Probabilities of the next pieces, see `trained.following`; None where none does.

    states: see `changed_states`.
    """
    model = load_model(view["model"])
    if not goes_on(model):
        return None
    by_name = {f"with {side}": hidden for side, hidden in states.items()}
    return layer_words.following(model, run_of(view.settings()), by_name)


def differences(view: View) -> list[str]:
    """Differences between A and B, in words, one line each."""
    return words.differences(view.in_use(), view.in_use(OTHER), every_setting())


def sweep_of(result: Result, kind: str, at: float) -> Sweep:
    """One of the settings swept, starting from a value."""
    swept = _sweep_of(result.settings, kind)
    return replace(swept, at=sweeps.within(kind, at, len(swept.base)))


@functools.lru_cache(maxsize=4)  # up to 4 MB each
def _sweep_of(settings: Settings, kind: str) -> Sweep:
    result = result_of(settings)
    return sweeps.sweep(result.trace, kind, 0.0, result.masks)
