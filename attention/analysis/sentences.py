"""Sentences that come with the library: for means, names and losses of heads, and for the study."""

from __future__ import annotations

import re
from pathlib import Path

MARKED = re.compile(r"([\[(])(\w+)[\])]")

TEXTS = Path(__file__).parent / "texts"


def by_kind(text: str) -> dict[str, list[str]]:
    """Lines by the heading above them, which begins with #."""
    kinds = (part.strip().splitlines() for part in text.split("# ")[1:])
    return {name: lines for name, *lines in kinds}


def _lines(name: str) -> list[str]:
    return (TEXTS / f"{name}.txt").read_text("utf-8").splitlines()


SENTENCES = _lines("english")
PORTUGUESE = _lines("portuguese")

# English puts each the other way round, so that their translations end with an earlier word.
PORTUGUESE_KINDS = by_kind((TEXTS / "portuguese_kinds.txt").read_text("utf-8"))

# Each with a noun in brackets and the (pronoun) that stands for it, another noun nearby.
PRONOUNS = _lines("pronouns")

# Sentences whose answer a few heads carry, each with the packaged model that it is for.
ANSWERED = tuple(
    ("smollm2", sentence)
    for sentence in """\
The sun rises in the east and sets in the
The capital of France is
Paris, France. Tokyo,
He turned left and she turned
day and night, black and
man and woman, boy and
king and queen, prince and
The opposite of good is
Anna gave Peter her book. Peter thanked
When Mary and John went to the store, John gave a drink to""".splitlines()
)


# Other words that ask for the same, of answers above; any other sentence is begun otherwise.
REWORDED = {
    "The sun rises in the east and sets in the": (
        "The sun comes up in the east and goes down in the",
        "If the sun rises in the east, it sets in the",
        "At dawn the sun is in the east, at dusk it is in the",
    ),
    "Paris, France. Tokyo,": (
        "Paris is in France. Tokyo is in",
        "Berlin, Germany. Tokyo,",
        "Paris belongs to France, and Tokyo to",
    ),
    "day and night, black and": (
        "night and day, black and",
        "The film was shot in black and",
        "The zebra is black and",
    ),
    "man and woman, boy and": (
        "a man and a woman, a boy and a",
        "man or woman, boy or",
        "The opposite of man is woman, and the opposite of boy is",
    ),
    "king and queen, prince and": (
        "a king and a queen, a prince and a",
        "the king and the queen, the prince and the",
        "man and woman, prince and",
    ),
    "When Mary and John went to the store, John gave a drink to": (
        "When John and Mary went to the store, John gave a drink to",
        "After John and Mary had gone to the store, John gave a drink to",
        "John was at the store with Mary. There John gave a drink to",
    ),
    "The capital of France is": (
        "The city that is the capital of France is called",
        "The capital of Germany is Berlin, and that of France is",
        "The government of France sits in its capital,",
    ),
    "The opposite of good is": (
        "The opposite of the word good is",
        "The word that means the opposite of good is",
        "The opposite of bad is good, and the opposite of good is",
    ),
    "He turned left and she turned": (
        "While he turned left, she turned",
        "First they went left, then they went",
        "On one side is the left, on the other side is the",
    ),
    "Anna gave Peter her book. Peter thanked": (
        "After Anna gave Peter her book, Peter thanked",
        "Anna lent Peter her book. Peter thanked",
        "Peter got a book from Anna. Peter thanked",
    ),
}
BEGINNINGS = ("Everybody knows this: {}", "She read aloud: {}", "Here is one more sentence. {}")


def in_other_words(text: str) -> tuple[str, ...]:
    """Three texts that ask for what a sentence asks for: for those of `REWORDED` in other words,
    for others in their own words behind another beginning."""
    return REWORDED.get(text) or tuple(begin.format(text) for begin in BEGINNINGS)


def marked(text: str) -> tuple[str, str, str]:
    """A sentence as in `PRONOUNS` without its marks, its noun in brackets and its (pronoun)."""
    words = dict(MARKED.findall(text))
    return MARKED.sub(r"\2", text), words["["], words["("]
