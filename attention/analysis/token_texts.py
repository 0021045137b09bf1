"""Texts of tokens as one reads them, whatever marks a tokenizer writes, and words found in them."""

from __future__ import annotations

import functools
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

MOST_LETTERS = 40  # of a text
CHUNK = 1024  # texts that go together
MOST_FOUND = 1000
PART = "##"  # before a part of a word
MARKERS = {"Ġ": " ", "▁": " ", "Ċ": "\n", "ĉ": "\t"}  # as tokenizers write blanks


@dataclass(frozen=True, eq=False)
class Texts:
    """Texts of the tokens of a run: in chunks, as one reads them, and searched."""

    tokens: Sequence[str]

    def chunk(self, at: int) -> list[str]:
        """So many texts from the `at`-th chunk on, each cut to a length."""
        return [*map(self.text, range(len(self.tokens))[at * CHUNK : (at + 1) * CHUNK])]

    def text(self, at: int) -> str:
        """The text of a token, cut to a length, with a blank before it where a word begins."""
        token = self.tokens[at]
        blank = " " if self._are_words and not token.startswith(PART) else ""
        return f"{blank}{readable(token)}"[:MOST_LETTERS]

    def find(self, words: str) -> list[int]:
        """Positions of the tokens in which these words begin, whichever letters are capitals."""
        text, ends = self._joined
        wanted = words.strip().lower()
        found: dict[int, None] = {}
        at = text.find(wanted) if wanted else -1
        while at >= 0 and len(found) < MOST_FOUND:
            found[bisect_right(ends, at)] = None
            at = text.find(wanted, at + 1)
        return [*found]

    @functools.cached_property
    def _are_words(self) -> bool:
        """True if no token brings a blank along: words then stand apart by themselves."""
        return not any(token[:1].isspace() or token[:1] in MARKERS for token in self.tokens)

    @functools.cached_property
    def _joined(self) -> tuple[str, list[int]]:
        """All as one text, and where each token ends in it."""
        read = [self.text(at).lower() for at in range(len(self.tokens))]
        return "".join(read), [*accumulate(map(len, read))]


def readable(token: str) -> str:
    """A token as one reads it: its blanks are blanks, and a part of a word is that part."""
    text = token.removeprefix(PART) or token
    return "".join(MARKERS.get(letter, letter) for letter in text)
