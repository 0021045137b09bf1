"""The passport of the chosen head, and its names tried on the sentence."""

from __future__ import annotations

from attention.app.components.scene import draw
from attention.app.state.shared import load_model
from attention.app.state.view import View
from attention.atlas.passport import Atlas
from attention.figures.scene import Scene, Words, note, scene
from attention.subjects.model import numbers, passport_numbers
from attention.subjects.model.passports import passport_of


def draw_passport(view: View) -> None:
    """The passport, or the command that makes it."""
    model = load_model(view["model"])
    try:
        opened = passport_numbers.read(view["model"])
    except ValueError as problem:
        draw(scene(note(f"The passports of this model cannot be read: {problem}.")), key="refused")
        return
    if opened is None:
        missing = (
            f"There are no passports of {model.about.title} yet. To make them: python -m "
            f"attention.atlas {view['model']}"
        )
        draw(scene(Words(missing, "info")), key="no_passports")
        return
    if not numbers.is_on_a_head(view):
        return
    draw(passport_scene(view, opened.atlas), key="passport_of_head")


def passport_scene(view: View, atlas: Atlas) -> Scene:
    """The passport of the chosen head, and a sentence for each of its names on the sentence."""
    shape = atlas.shape
    layer = min(view["layer"], len(shape) - 1)
    head = layer, min(view["head"], shape[layer] - 1)
    names = [one.name for one in atlas.of(*head).names if one.holds]
    tried = passport_numbers.tried_here(view, head, names)
    return scene(passport_of(atlas, head), Words(" ".join(tried)) if tried else None)
