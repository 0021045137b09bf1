"""Attention of one sequence over another, and over a batch."""

from __future__ import annotations

import functools
from dataclasses import replace

from attention.app.cached.runs import result_of
from attention.app.state.shared import load_vectors
from attention.app.state.view import View
from attention.figures.matrix import MatrixError
from attention.inputs.text import tokenize
from attention.pipeline import Result, Settings
from attention.subjects.two_sequences import words
from attention.subjects.two_sequences.given import given_batch
from attention.subjects.two_sequences.words import Batch, CrossSettings

NO_BATCH = "A batch needs a sentence for the queries and at least one memory with a word in it."


def cross_result(view: View) -> Result | None:
    """The result for two sentences; None while either has no words."""
    if not all(view.two_sequences):
        return None
    return result_of(replace(view.settings(), s=view["target"]), view["memory"])


def cross_batch(view: View) -> Batch | str:
    """The batch that is set, or words on what it still needs."""
    settings = replace(view.of(CrossSettings), sequence=0, dimension=0)
    if settings.cross == "numbers":
        try:
            return given_batch(view.settings(), settings)
        except MatrixError as error:
            return f"{error}."
    if not (tokenize(settings.target) and words.read_memories(settings.batch)[0]):
        return NO_BATCH
    return _batch_of(view.settings(), settings)


@functools.lru_cache(maxsize=16)  # up to 2 MB each
def _batch_of(settings: Settings, cross_settings: CrossSettings) -> Batch:
    return words.compute_batch(settings, cross_settings, load_vectors)
