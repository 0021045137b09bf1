"""Numbers as people read them, and short forms of holders of tensors for a notebook."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from decimal import ROUND_HALF_UP, Decimal, localcontext

from torch import Tensor


def shown(text: str) -> str:
    """The text of a number as people read it, with a minus sign."""
    return text.replace("-", "−")


def fixed(value: float, digits: int) -> str:
    """A number with that many decimals; no zero has a sign. Halfway between two it is the one
    farther from 0, as browsers write it."""
    if 2 * abs(value) * 10**digits % 2 != 1:  # not halfway
        text = f"{value:.{digits}f}"
    else:
        with localcontext(rounding=ROUND_HALF_UP):
            text = f"{Decimal(value):.{digits}f}"
    return shown(text) if float(text) else text.removeprefix("-")


def number(value: float | None) -> str:
    """A number as shown: four decimals, or four digits where that would lose it."""
    if value is None:
        return ""
    if not math.isfinite(value):
        return "not a number" if math.isnan(value) else "∞" if value > 0 else "−∞"
    fits = value == 0 or 1e-3 <= abs(value) < 1e5
    if fits and value * 20_000 % 2 != 1:  # not halfway between two
        return shown(f"{value or 0:.4f}")
    exact = Decimal(value)
    with localcontext(rounding=ROUND_HALF_UP):  # as browsers round: a matrix beside shows the same
        if fits:
            return shown(f"{exact:.4f}")
        digits, _, exponent = f"{exact:.3e}".partition("e")
    return shown(f"{digits}e{int(exponent)}")


def whole_number(value: float) -> str:
    """An integer as shown, and any other number as `number` has it."""
    whole = math.isfinite(value) and value == round(value) and abs(value) < 1e5
    return shown(str(round(value))) if whole else number(value)


def percent(share: float, digits: int = 0) -> str:
    """A share of all as people read it."""
    return f"{fixed(100 * share, digits)} %"


def shapes(holder: object) -> str:
    """The shapes of its parts, not their numbers: `Trace(queries=(3, 5), …, scale=0.5)`."""
    parts = [
        f"{name}={_short(part)}"
        for name, part in vars(holder).items()
        if part is not None and not name.startswith("_")
    ]
    return f"{type(holder).__name__}({', '.join(parts)})"


def _short(part: object) -> str:
    if isinstance(part, Tensor):
        return str(tuple(part.shape))
    if isinstance(part, bool | int | float | str):
        return repr(part)
    if isinstance(part, tuple | list):
        if all(isinstance(each, Tensor) for each in part):
            return f"({', '.join(map(_short, part))})"
        return f"{len(part)} × {type(part[0]).__name__}"
    return type(part).__name__


def listed(words: Iterable[str]) -> str:
    """Words as a list in a sentence: "a, b and c"."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def distinct_names(tokens: Sequence[str]) -> list[str]:
    """The tokens, with their position where a word comes more than once."""
    times = Counter(tokens)
    return [
        token if times[token] == 1 else f"{token} ({position})"
        for position, token in enumerate(tokens)
    ]
