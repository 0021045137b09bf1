"""Heads whose work is known, each with the sentence on which it shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from attention.atlas.exhibits import Exhibit, exhibits
from attention.trained import sources
from attention.trained.sources import ADAPTED, CARRIED, along


@dataclass(frozen=True)
class KnownHead:
    """A head whose work shows on a sentence.

    title: it in a few words; model, s: which model reads what; layer, head: the head, or the one to
    begin with; query: the piece that it looks from.
    """

    title: str
    model: str
    s: str
    layer: int
    head: int
    query: int

    @property
    def settings(self) -> Mapping[str, Any]:
        """The settings that show it, but for the query."""
        return {name: getattr(self, name) for name in ("model", "s", "layer", "head")}

    def link(self, **more: Any) -> str:
        """The query of a link to it. more: further settings."""
        return urlencode({**self.settings, **more, "query": self.query})


def known_of(heads: Sequence[KnownHead], model: str) -> list[KnownHead]:
    """Known heads of a model."""
    return [known for known in heads if known.model == model]


def first_sentence(heads: Sequence[KnownHead]) -> str:
    """The query of a link to the sentence of the first whose model is installed, "" without one."""
    there = [known for known in heads if known.model in sources.names()]
    return urlencode({"model": there[0].model, "s": there[0].s}) if there else ""


_TITLES = (
    *("East and west", "A capital", "Tokyo", "Left and right", "Black and white", "Boy and girl"),
    *("Prince and princess", "An opposite", "Her book", "Mary and John"),
)


def title_of(one: Exhibit) -> str:
    """An exhibit in a few words."""
    return dict(zip(exhibits(), _TITLES, strict=True))[one]


# The heads that are measured, each asked from the last piece.
EXHIBITED = tuple(
    KnownHead(title_of(one), one.model, one.text, one.layer, one.head, len(one.pieces) - 1)
    for one in exhibits()
)

# Sentences whose answer few heads carry, asked after the last piece.
EXAMPLES = (
    *EXHIBITED,
    *(
        KnownHead(title, model, s, layer, head, len(s.split()))
        for model in (*CARRIED, *ADAPTED)
        for title, s, layer, head in along()[model].about.samples
    ),
)
