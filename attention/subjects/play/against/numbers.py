"""Results of A and B, and their comparison."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from attention.app.cached.runs import if_there_are_words
from attention.app.state.openings import other_ending
from attention.figures import layer_words
from attention.pipeline import Result, Settings
from attention.subjects.play.against import words
from attention.subjects.play.against.words import DIFFERENCES, Comparison


@dataclass(frozen=True, eq=False)
class Sides:
    """Results of A and B, None while the sentence of B has no words, and their weights."""

    a: Result
    b: Result | None
    compared: Comparison | None


def differences(result: Result) -> tuple[str, ...]:
    """Things in which B can differ: of a layer with a state no scale, with one head no other."""
    absent = {"head": result.layer.heads == 1, "scale": result.layer.keeps_state}
    return tuple(name for name in DIFFERENCES if not absent.get(name))


def sides(result: Result, chosen: Mapping[str, Any]) -> Sides:
    """A, which is shown above, and B. chosen: the values of `AgainstSettings`."""
    if chosen["differs"] not in differences(result):
        chosen = {**chosen, "differs": "word"}
    if chosen["differs"] == "word" and not chosen["s2"]:
        chosen = {**chosen, "s2": other_ending(result.settings.s)}
    return compared(result, words.settings_of_b(result.settings, result.trace.scale, chosen))


def compared(a: Result, settings: Settings) -> Sides:
    """A beside the result of other settings."""
    b = if_there_are_words(settings)
    if b is None or not b.of_sentence:
        return Sides(a, None, None)
    (tokens, _, ours), (others, _, theirs) = map(layer_words.shown, (a, b))
    if list(tokens) == list(others):
        return Sides(a, b, words.of_settings(tokens, ours, theirs))
    return Sides(a, b, words.of_sentences(tokens, ours, others, theirs))
