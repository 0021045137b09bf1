"""Sides of a comparison: settings A, and settings B under the same names with `b_` before them."""

from __future__ import annotations

from dataclasses import replace

from attention.core.settings import Declared, Value, prefixed

OTHER = "b_"
OF_BOTH = ("s", "model", "layer", "join")
OTHER_DEFAULTS: dict[str, Value] = {"scale": "none"}


def other_side(declared: Declared) -> Declared:
    """Declare the settings again for B: `b_` before each name, without those in `OF_BOTH`."""
    theirs = {
        name: replace(about, default=OTHER_DEFAULTS.get(name, about.default))
        for name, about in declared.items()
        if name not in OF_BOTH
    }
    return prefixed(theirs, OTHER)
