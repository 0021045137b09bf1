"""A text too long for a link, which a visit keeps: its mark in links, and what may be one."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from attention.core.settings import text
from attention.inputs.text import plain

MAX_LETTERS = 1 << 16
BEGINNING = 40  # letters of a text that its mark begins with


@dataclass(frozen=True)
class LongTextSettings:
    """The text that a page shows, which is kept in the visit."""

    long: str = text("", "Mark of a longer text", BEGINNING + 10)


def cleaned(given: str) -> str:
    """A text as models read it: lines stay, other control characters become spaces."""
    return "\n".join(map(plain, given.splitlines())).strip()


def mark_of(given: str) -> str:
    """Mark of a text in links: how it begins, and a digest that tells it from others."""
    digest = hashlib.sha256(given.encode("utf-8", "replace")).hexdigest()[:8]
    return f"{' '.join(given[:BEGINNING].split())} {digest}"


def is_mark(given: str) -> bool:
    """True if a link's text is such a mark."""
    return bool(re.fullmatch(r".{0,40} [0-9a-f]{8}", given))


def beginning_of(mark: str) -> str:
    """The beginning of the text of a mark, as written by anybody."""
    return plain(mark.rpartition(" ")[0])


def problem_of(given: str) -> str:
    """Reason why a text is not taken, in a sentence; "" where it is."""
    if len(given) > MAX_LETTERS:
        return f"A text may have up to {MAX_LETTERS:,} letters, this one has {len(given):,}."
    return "" if cleaned(given) else "There are no words in this text."
