"""Selection that all pictures of a page show, and how the server hears of another one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypedDict

from attention.app.components.base import Component
from attention.app.components.turns import turn_of

SELECTION = "selection"  # key


class QueryAndStage(TypedDict):
    """Query and stage that are chosen in the pictures of a page."""

    query: int
    stage: str


class Selection(TypedDict):
    """Selection as the server knows it."""

    values: QueryAndStage
    defaults: QueryAndStage


class SelectionHeader(Selection):
    """Selection beside other things, with the turn of `tell_selection`."""

    turn: int


def now(selection: Selection) -> SelectionHeader:
    """A selection, for the header of a picture that shows it."""
    return {**selection, "turn": turn_of(SELECTION)}


_selection = Component("selection", Selection, selection=QueryAndStage)


def tell_selection(selection: Selection, on_choose: Callable[[Any], None]) -> None:
    """Tells the server what is chosen in the pictures of a page, and them what a link says.

    Nothing is seen of it. Only the fragment that it stands in runs when something is chosen.
    """
    _selection.draw(selection, key=SELECTION, selection=(lambda values: True, on_choose))
