"""Selection that all pictures of a page show, and how the server hears of another one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attention.app.components.base import Component
from attention.app.components.turns import turn_of
from attention.figures.scene_message import QueryAndStage, Selection, SelectionHeader

SELECTION = "selection"  # key


def now(selection: Selection) -> SelectionHeader:
    """A selection, for the header of a picture that shows it."""
    return {**selection, "turn": turn_of(SELECTION)}


_selection = Component("selection", Selection, selection=QueryAndStage)


def tell_selection(selection: Selection, on_choose: Callable[[Any], None]) -> None:
    """Tells the server what is chosen in the pictures of a page, and them what a link says.

    Nothing is seen of it. Only the fragment that it stands in runs when something is chosen.
    """
    _selection.draw(selection, key=SELECTION, selection=(lambda values: True, on_choose))
