"""Heads whose work is known, each with the sentence on which it shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from attention.trained import sources


@dataclass(frozen=True)
class KnownHead:
    """A head whose work shows on a sentence.

    title: it in a few words; model, s: which model reads what; layer, head: the head, or the one to
    begin with; query: the piece that it looks from; second: a sentence that differs in a word,
    where the head carries the difference.
    """

    title: str
    model: str
    s: str
    layer: int
    head: int
    query: int
    second: str = ""

    @property
    def settings(self) -> Mapping[str, Any]:
        """The settings that show it, but for the query."""
        names = ("model", "s", "layer", "head", *(["second"] if self.second else []))
        return {name: getattr(self, name) for name in names}

    def link(self, **more: Any) -> str:
        """The query of a link to it. more: further settings."""
        return urlencode({**self.settings, **more, "query": self.query})


def known_of(heads: Sequence[KnownHead], model: str) -> list[KnownHead]:
    """Known heads of a model."""
    return [known for known in heads if known.model == model]


def first_link(heads: Sequence[KnownHead], **more: Any) -> str:
    """The query of a link to the first whose model is installed, "" without one."""
    there = [known for known in heads if known.model in sources.names()]
    return there[0].link(**more) if there else ""
