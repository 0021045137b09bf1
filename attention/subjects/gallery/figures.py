"""Cards of heads that one can break."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict

from attention.figures.scene import Figure


class HeadCard(TypedDict):
    """One card.

    words: of the sentence, each with whether a space goes before it; weights: how much the head
    looks at each; answer: the next word; before, after: its share with the head and without, as
    they are read, with shares for their bars; told: a few sentences; controls: each by name, with
    what it shows; link: the address of the window with that head off, "" where there is none.
    """

    title: str
    words: Sequence[tuple[str, bool]]
    weights: Sequence[float]
    answer: str
    before: str
    after: str
    shares: tuple[float, float]
    told: Sequence[str]
    controls: Sequence[tuple[str, str]]
    link: str


@dataclass(frozen=True, eq=False)
class HeadCards(Figure, kind="head_cards"):
    """Sentences whose answer hangs on one head, each on a card with a link that breaks it."""

    cards: Sequence[HeadCard]
