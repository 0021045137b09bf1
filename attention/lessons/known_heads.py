"""Heads of trained models that do one thing, each with a sentence on which it shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from attention.trained import sources
from attention.trained.sources import SMOLLM2


@dataclass(frozen=True)
class KnownHead:
    """A head, and a token of a sentence that shows its work.

    title: what it does; model, s, layer, head, query: where that is seen; key: the token looked at.
    """

    title: str
    model: str
    s: str
    layer: int
    head: int
    query: int
    key: int

    @property
    def settings(self) -> Mapping[str, Any]:
        """The settings that show it, but for the query."""
        return {name: getattr(self, name) for name in ("model", "s", "layer", "head")}

    @property
    def link(self) -> str:
        """The query of a link to it."""
        return urlencode({**self.settings, "query": self.query})


KNOWN_HEADS = (
    KnownHead(
        "A name is found again",
        SMOLLM2.about.name,
        "When Mary and John went to the store, John gave a drink to",
        layer=24,
        head=4,
        query=13,
        key=1,
    ),
    KnownHead(
        "A verb agrees with a far noun",
        SMOLLM2.about.name,
        "The keys to the old wooden cabinet",
        layer=26,
        head=0,
        query=6,
        key=1,
    ),
    KnownHead(
        "A pattern is repeated",
        SMOLLM2.about.name,
        "Mr and Mrs Dursley of number four, Privet Drive, were proud. Mr and Mrs Dursley of",
        layer=18,
        head=6,
        query=23,
        key=7,
    ),
)


def known_heads(model: str) -> list[KnownHead]:
    """Those of a model."""
    return [known for known in KNOWN_HEADS if known.model == model]


def first_known() -> str:
    """The query of a link to the first of those that there are, "" where there is none."""
    there = [known for known in KNOWN_HEADS if known.model in sources.names()]
    return there[0].link if there else ""
