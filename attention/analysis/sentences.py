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


def _text(name: str) -> str:
    return (TEXTS / f"{name}.txt").read_text("utf-8")


SENTENCES = _text("english").splitlines()
PORTUGUESE = _text("portuguese").splitlines()

# English puts each the other way round, so that their translations end with an earlier word.
PORTUGUESE_KINDS = by_kind(_text("portuguese_kinds"))

# Words and names of a kind, one of which may stand for another, and beginnings of any sentence.
EXCHANGED = by_kind(_text("exchanged"))

# Each with a noun in brackets and the (pronoun) that stands for it, another noun nearby.
PRONOUNS = _text("pronouns").splitlines()

# Sentences whose answer a few heads of SmolLM2 carry, each with other words that ask for the same;
# any other sentence is begun otherwise.
REWORDED = {text: tuple(others) for text, others in by_kind(_text("answered")).items()}
ANSWERED = tuple(("smollm2", text) for text in REWORDED)
BEGINNINGS = ("Everybody knows this: {}", "She read aloud: {}", "Here is one more sentence. {}")


def in_other_words(text: str) -> tuple[str, ...]:
    """Three texts that ask for what a sentence asks for: for those of `REWORDED` in other words,
    for others in their own words behind another beginning."""
    return REWORDED.get(text) or tuple(begin.format(text) for begin in BEGINNINGS)


def marked(text: str) -> tuple[str, str, str]:
    """A sentence as in `PRONOUNS` without its marks, its noun in brackets and its (pronoun)."""
    words = dict(MARKED.findall(text))
    return MARKED.sub(r"\2", text), words["["], words["("]
