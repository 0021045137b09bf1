"""The pieces of a trained model joined into words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from attention.core import analysis
from attention.core.functional import LongTrace, Trace, WeightsAlone

MARKS = re.compile("^(##|▁|·)")  # of WordPiece, SentencePiece and byte-level pieces
# Pieces that stand for no text, as [CLS], <s> and <|endoftext|>.
SPECIAL = re.compile(r"^(\[[A-Z]+\]|</?\w*>|<\|\w+\|>)$")


@dataclass(frozen=True, eq=False)
class Words:
    """The pieces of a trained model joined into words.

    tokens, keys: the words of queries and keys; rows, columns: for each piece of these the
    position of its word.
    """

    tokens: tuple[str, ...]
    keys: tuple[str, ...]
    rows: list[int]
    columns: list[int]

    def of_words(self, weights: Tensor, mask: Tensor | None = None) -> WeightsAlone:
        """Weights of pieces as those of words, see `analysis.join`. (…, words, words)

        mask: over pieces; a word is hidden where all its pieces are.
        """
        seen = None if mask is None else analysis.join(mask.float(), self.rows, self.columns) > 0
        return WeightsAlone(analysis.join(weights, self.rows, self.columns), seen)

    def weights_for(self, trace: Trace | LongTrace, word: int) -> Tensor:
        """The weights of all heads over words; of one word where they are too many to keep."""
        if isinstance(trace, Trace):
            return self.of_words(trace.weights).weights
        pieces = [at for at, its in enumerate(self.rows) if its == word]
        rows = torch.cat([trace.query(piece).weights for piece in pieces], -2)
        return analysis.join(rows, [0] * len(pieces), self.columns)


def slots(groups: Sequence[int | None]) -> list[int]:
    """For each piece the position of its word; a special token is a word of its own."""
    found: list[int] = []
    for at, word in enumerate(groups):
        goes_on = at > 0 and word is not None and word == groups[at - 1]
        found.append(len(set(found)) - (1 if goes_on else 0))
    return found


def whole_words(pieces: Sequence[str], slots: Sequence[int]) -> tuple[str, ...]:
    """The words of some pieces, without the marks that say how pieces hang together."""
    words = [""] * (max(slots, default=-1) + 1)
    for piece, slot in zip(pieces, slots, strict=True):
        words[slot] += MARKS.sub("", piece) or piece
    return tuple(words)


def same_word(before: Sequence[str], at: int, now: Sequence[str]) -> int | None:
    """Position of a token among other tokens, None where it is gone.

    Of the same sentence in other pieces, or without its special tokens, it is the one that holds
    its first letter; of another sentence the word that is spelled the same and comes as often
    before.
    """
    old, new = ([_letters(token) for token in tokens] for tokens in (before, now))
    if not old[at]:
        return now.index(before[at]) if before[at] in now else None
    if "".join(old) == "".join(new):
        start, end = sum(map(len, old[:at])), 0
        for position, letters in enumerate(new):
            end += len(letters)
            if start < end:
                return position
    same = [position for position, letters in enumerate(new) if letters == old[at]]
    return same[min(old[:at].count(old[at]), len(same) - 1)] if same else None


def _letters(token: str) -> str:
    """Letters of a token in the text, without case: none of a special one."""
    return "" if SPECIAL.match(token) else MARKS.sub("", token).casefold()
