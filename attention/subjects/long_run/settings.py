"""Settings of Own run: the file and the part of its map that a link names, links, maps beside."""

from __future__ import annotations

import re
from dataclasses import dataclass

from attention.core.settings import choice, text, whole
from attention.inputs.text import plain

NOTHING, MEAN, OTHER = "nothing", "mean of the layer", "another head"
FROM, TO = "from it", "to it"
MOST_NAME = 40  # letters of a file's name in links
DIGITS = 12  # of its digest


@dataclass(frozen=True)
class LongRunSettings:
    """Settings of the page "Own run", besides those all pages share."""

    beside: str = choice(NOTHING, "Compare with", (NOTHING, MEAN, OTHER))
    beside_layer: int = whole(0, "Its layer", 0, 63, when=("beside", OTHER))
    beside_head: int = whole(0, "Its head", 0, 255, when=("beside", OTHER))
    find: str = text("", "Word", 40, help="Links that begin or end at this word; empty: any.")
    ends: str = choice(FROM, "Links", (FROM, TO))
    apart: int = whole(64, "Tokens apart, at least", 0, 999_999)
    seen: str = text("", "Part of the map", 60)
    run: str = text("", "Mark of the file", MOST_NAME + 1 + DIGITS)


def mark_of(name: str, digest: str) -> str:
    """Mark of a file in links: its name, and of its SHA-256 what tells it from others."""
    return f"{plain(name).strip()[:MOST_NAME]} {digest[:DIGITS]}"


def parts_of_mark(mark: str) -> tuple[str, str] | None:
    """Name and digest in the mark of a link, None where it is none."""
    found = re.fullmatch(rf"(.{{0,{MOST_NAME}}}) ([0-9a-f]{{{DIGITS}}})", mark)
    return (plain(found[1]), found[2]) if found else None
