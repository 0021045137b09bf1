"""Scenes of A real model: the map of its heads with what stands around it."""

from __future__ import annotations

from attention.app.cached import runs
from attention.app.state.view import View
from attention.figures.scene import Scene, Words, note, scene
from attention.subjects.model import words as model_words
from attention.subjects.model.figures import ModelWindow
from attention.subjects.model.window import Shown


def window(view: View, shown: Shown, figure: ModelWindow) -> Scene:
    """The map of all heads, what the answer of a model is that says no next word, and what could
    not be used as it was set."""
    result = runs.as_trained(view)
    answer = model_words.answer_words(shown.model)
    return scene(
        figure,
        Words(answer) if answer else None,
        *map(note, () if result is None else result.notes),
    )
