"""Why a head looks where it looks: lengths beside weights, and a score as a sum of parts."""

from __future__ import annotations

from attention.app.components.scene import draw
from attention.app.controls.part import part
from attention.app.state import session
from attention.app.state.view import View
from attention.figures.matrices import Matrices
from attention.subjects.model import scene as scenes


@part
def draw_reasons(view: View) -> None:
    """For the chosen query: how long what it takes is, and why it looks at a key."""
    shown = scenes.reasons(view)
    if not shown.parts:
        return
    lengths = shown["lengths"]
    assert isinstance(lengths, Matrices)
    cell = lengths.has, lambda cell: session.choose("key", cell[1])
    draw(shown, key="reasons", taken={lengths.key: {"cell": cell}})
