"""Words nearest to a token's vector, before attention and after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypedDict

from attention.core.printing import fixed
from attention.figures.messages import message
from attention.figures.scene import Figure


class NearWord(TypedDict):
    """A word, and its cosine as shown."""

    word: str
    cosine: str


class NearestLine(TypedDict):
    """Words nearest to one vector, none where that is 0."""

    name: str
    words: Sequence[NearWord]


class NearestHeader(TypedDict):
    """One line for each vector; none where it cannot be compared with words."""

    lines: Sequence[NearestLine]


@dataclass(frozen=True, eq=False)
class NearestWords(Figure, kind="nearest", header=NearestHeader, light=True):
    """Words nearest to vectors, with their cosines; lines: those of each vector, by its name."""

    lines: Mapping[str, Sequence[tuple[str, float]]]

    def content(self) -> bytes:
        lines: list[NearestLine] = []
        for name, words in self.lines.items():
            near = [NearWord(word=word, cosine=fixed(cosine, 2)) for word, cosine in words]
            lines.append({"name": name, "words": near})
        header: NearestHeader = {"lines": lines}
        return message(header)
