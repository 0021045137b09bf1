"""A sentence in pieces as words of a card."""

from __future__ import annotations

from collections.abc import Sequence

DOT, JOINED = "·", "##"  # before a piece: there is a space; it goes on a word
MARKS = f"{DOT}{JOINED}"


def card_words(tokens: Sequence[str]) -> list[tuple[str, bool]]:
    """Each token without the marks of its tokenizer, and whether a space goes before it."""
    dotted = any(token.startswith(DOT) for token in tokens)
    return [
        (
            token.strip(MARKS) or token,
            token.startswith(DOT) if dotted else not token.startswith(JOINED),
        )
        for token in tokens
    ]
