"""The chosen head as it is computed: all its weights, a translation, and the sum of its layer."""

from __future__ import annotations

from attention.app.components.scene import draw
from attention.app.controls.part import part
from attention.app.state.view import View
from attention.subjects.model import scene as scenes


def draw_computed(view: View) -> None:
    """The weights of the chosen head, and what all heads of its layer add to the chosen word."""
    draw(scenes.computed(view), key="computed", selection=view.selection)
    draw_sum(view)


@part
def draw_sum(view: View) -> None:
    """The sum of the chosen word's layer."""
    draw(scenes.token_sum(view), key="token_sum")
