"""The view of the bare address: one sentence with two endings, under settings that show much."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from attention.pipeline import Result
from attention.trained import sources
from attention.trained.sources import MINILM, NONE


@dataclass(frozen=True)
class Opening:
    """A sentence whose last word can be switched.

    reader: who reads it, in words; text: all of it but that word; endings: the two words, the first
    to begin with; query: the token that is chosen; chosen: the settings that are no defaults.
    """

    reader: str
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
        return urlencode({"s": self.sentences[0], **self.chosen, "query": self.query})

    @property
    def heading(self) -> str:
        """The question it asks."""
        return f"Which word does “{self.word}” look at?"

    def words(self, results: Sequence[Result]) -> str:
        """A sentence on the weights. results: with each of the endings."""
        (first, share), *_ = _most(results[0], self.query)
        second = _most(results[1], self.query)
        less = second[0][0] == first and second[0][1] < share
        sure = f"With “{self.endings[1]}” it is less sure" if less else f"With “{self.endings[1]}”"
        got = ", ".join(f"“{key}” {_percent(weight)}" for key, weight in second)
        own = results[0].trace.weights[self.query, self.query] >= share
        apart = "Apart from itself, " if own else ""
        return f"{apart}“{self.word}” looks most at “{first}”: {_percent(share)}. {sure}: {got}."


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _most(result: Result, query: int) -> list[tuple[str, float]]:
    """The two keys with the most weight, the query itself aside, each with its weight."""
    weights = result.trace.weights[query].tolist()
    order = sorted(range(len(weights)), key=lambda key: -weights[key])
    return [(result.tokens[key], weights[key]) for key in order if key != query][:2]


OPENINGS = {
    MINILM.about.name: Opening(
        "A small trained model reads this sentence.",
        "the animal did not cross the street because it was too",
        ("tired", "wide"),
        8,
        {"model": MINILM.about.name, "layer": 3, "head": 1, "special": "ignored"},
    ),
    NONE: Opening(
        "Each word looks at words with vectors like its own.",
        "she bought a bass",
        ("guitar", "fish"),
        3,
        {},
    ),
}


def opening() -> Opening:
    """The one to begin with: of a trained model, where that is installed."""
    names = [name for name in OPENINGS if name in sources.names()]
    return OPENINGS[names[0]]
