"""Numbers in a passport's sentences, and names of pieces and heads."""

from __future__ import annotations

from attention.atlas.passport import Alike, Atlas, Mean
from attention.core.printing import fixed
from attention.trained.pieces import SPACES

MOST = 0.5  # of a head's weight, of a subspace, of what two heads vary by: less is said to be part
WORTH = 0.05  # of a probability: a change that is told


def share(value: float) -> str:
    """A share in per cent: whole from 10 % on, below with a decimal."""
    return f"{hundred(value, value)} %"


def hundred(value: float, like: float) -> str:
    """A hundred times a number, with as many decimals as another one needs."""
    return fixed(100 * value, 0 if abs(like) >= 0.0995 or not like else 1)


def share_of(found: Mean) -> str:
    """A share with its interval: "86 % (78 to 92)"."""
    ends = " to ".join(hundred(end, found.mean) for end in (found.low, found.high))
    return f"{share(found.mean)} ({ends})"


def bare(text: str) -> str:
    """A text or a piece without the marks of spaces at its ends."""
    return text.strip(f"{SPACES} ")


def quoted(text: str) -> str:
    """A text or a piece in quotation marks, a piece without the mark of its space."""
    return f"“{bare(text) or text}”"


def head_name(atlas: Atlas, alike: Alike) -> str:
    """A head by its numbers, of another model with its name."""
    return alike.name if alike.model == atlas.model else f"{alike.model} {alike.name}"


def capital(words: str) -> str:
    """Words with their first letter large."""
    return words[:1].upper() + words[1:]
