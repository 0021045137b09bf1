"""The view of the bare address: one sentence with two endings, under settings that show much."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from attention.core.settings import choice
from attention.trained import sources
from attention.trained.sources import MINILM, NONE

ONE_WORD, ALL_WORDS = "one word", "all words"
MAP, HOW, HEADS, AGAINST, NUMBERS = FOLDS = ("map", "how", "all heads", "against", "numbers")
# Why the map is shown in place of a fold that a layer has not.
MAP_INSTEAD = dict.fromkeys(
    (HOW, NUMBERS), "Pieces joined into words have weights alone: the map shows them."
) | {HEADS: "This layer has one head: the map shows it."}


@dataclass(frozen=True)
class FoldSettings:
    """The fold that is open below the sentence, and how many of its words it shows."""

    fold: str = choice(
        MAP,
        "Below the sentence",
        FOLDS,
        help="map: all weights, and the new vector. how: the stages of the computation. all heads: "
        "those of the layer. against: one difference. numbers: the sum, term by term.",
        names={
            MAP: "Map of weights; heatmap, attention matrix",
            HOW: "How; stages of the computation, queries keys values",
            HEADS: "All heads; multi-head",
            AGAINST: "Against; compare two settings, difference",
            NUMBERS: "Numbers; weighted sum term by term",
        },
    )
    words: str = choice(
        ONE_WORD,
        "Words shown",
        (ONE_WORD, ALL_WORDS),
        help="one word: the chosen one, in rows. all words: every word, in matrices.",
    )


@dataclass(frozen=True)
class Opening:
    """A sentence whose last word can be switched.

    text: all of it but that word; endings: the two words, the first to begin with; query: the token
    that is chosen; chosen: the settings that are no defaults.
    """

    text: str
    endings: tuple[str, str]
    query: int
    chosen: Mapping[str, Any]

    @property
    def sentences(self) -> tuple[str, str]:
        """The sentence with each of its endings."""
        first, second = self.endings
        return f"{self.text} {first}", f"{self.text} {second}"

    @property
    def word(self) -> str:
        """The chosen token."""
        return self.text.split()[self.query]

    @property
    def link(self) -> str:
        """The address of it, all its settings named."""
        said = {"s": self.sentences[0], **self.chosen, "query": self.query}
        return urlencode(said)


OPENINGS = {
    MINILM.about.name: Opening(
        "the animal did not cross the street because it was too",
        ("tired", "wide"),
        8,
        {"model": MINILM.about.name, "layer": 3, "head": 1, "special": "ignored"},
    ),
    NONE: Opening(
        "she bought a bass",
        ("guitar", "fish"),
        3,
        {},
    ),
}


def other_ending(sentence: str) -> str:
    """The sentence of an opening with its other ending, "" for any other sentence."""
    for one in OPENINGS.values():
        first, second = one.sentences
        if sentence in (first, second):
            return second if sentence == first else first
    return ""


def opening() -> Opening:
    """The one to begin with: of a trained model, where that is installed."""
    names = [name for name in OPENINGS if name in sources.names()]
    return OPENINGS[names[0]]
