"""Checks of what a file says, each in one sentence that says what was expected and what came."""

from __future__ import annotations

import math
import re
from typing import Any, cast

NAME = re.compile(r"[\w.#()\[\] -]{1,300}")
REASON = re.compile(r"[^<>&\x00-\x1f]{1,400}")


def must(fits: object, expected: str, came: object) -> None:
    """Raises ValueError where something does not fit."""
    if not fits:
        raise ValueError(f"the file does not fit: {expected}, got {str(came)[:80]!r}")


def told(said: Any, name: str, kind: type | None = None) -> Any:
    """A part of what is said. Raises ValueError without it, or where it is of another kind."""
    must(isinstance(said, dict) and name in said, f"its description must have {name}", said)
    found = said[name]
    must(kind is None or isinstance(found, kind), f"{name} must be of another kind", found)
    return found


def list_of(found: Any, kind: type, most: int) -> list[Any]:
    """A list of up to so many of a kind. Raises ValueError where it is another."""
    fits = isinstance(found, list) and len(found) <= most
    must(fits, f"there must be a list of up to {most}", type(found).__name__)
    must(all(isinstance(one, kind) for one in found), "each must be described", "something else")
    return cast(list[Any], found)


def whole(found: object, least: int, below: int, name: str) -> int:
    """A whole number within bounds. Raises ValueError where it is another."""
    fits = type(found) is int and least <= found < below
    must(fits, f"{name} must be a whole number from {least} on, below {below}", found)
    return cast(int, found)


def number_of(found: object, name: str) -> float:
    """A finite number. Raises ValueError where it is none."""
    fits = type(found) in (int, float) and math.isfinite(cast(float, found))
    must(fits, f"{name} must be a finite number", found)
    return float(cast(float, found))


def name_of(found: object) -> str:
    """A name as files may have it. Raises ValueError where it is none."""
    fits = isinstance(found, str) and NAME.fullmatch(found)
    must(fits, "a name must be letters, digits, dots and the like, up to 300", found)
    return cast(str, found)
