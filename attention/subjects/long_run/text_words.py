"""A text too long for a link: its mark there, and words on its length and its wait."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from attention.core import analysis
from attention.core.functional import Trace
from attention.core.limits import MAX_SEEN
from attention.core.printing import fixed
from attention.core.settings import text
from attention.inputs.text import plain
from attention.trained.models import Model, Pieces

MAX_LETTERS = 1 << 16
BEGINNING = 40  # letters of a text that its mark begins with
TERMS = 12  # of a weighted sum, besides all others together
UNFELT = 1.5  # seconds
NOT_OFFERED = (
    f"Of more than {MAX_SEEN} tokens a map stands in place of the other pictures: words are not "
    "joined from pieces, no head is switched off, and there are no files."
)


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


def heading(model: Model) -> tuple[str, str]:
    """Title over the map of a text in the window of a model, and what one finds there."""
    heads = sum(layer.attention.heads for layer in model.layers)
    return (
        f"{heads} heads read a long text",
        f"{model.about.title} reads it whole. Choose a layer and a head, and see where each token "
        "looks.",
    )


def length_words(model: Model, pieces: Pieces, letters: int) -> str:
    """Count the pieces of a text, and those left out."""
    count, left_out = len(pieces.ids), pieces.left_out
    words = f"{letters:,} letters, {count:,} pieces"
    if not left_out:
        return f"{words}."
    return (
        f"{letters:,} letters, {count + left_out:,} pieces; {model.about.title} reads the first "
        f"{count:,} here, the other {left_out:,} are left out."
    )


def wait_words(pieces: int, layers: int, seconds: float) -> str:
    """Tell how long some layers take over a text."""
    through = "1 layer" if layers == 1 else f"{layers} layers"
    return f"{pieces:,} pieces through {through} take about {max(1, round(seconds))} s here."


def sum_table(
    trace: Trace, tokens: Sequence[str]
) -> tuple[list[str], Mapping[str, Sequence[float | str | None]], list[str]]:
    """Names, columns and last row: the greatest terms of the only query of a trace, the others
    together, and their sum.

    trace: (1, keys); tokens: of the keys.
    """
    terms = analysis.strongest(trace, tokens, 0, TERMS)
    names = [
        name if position is None else f"{position} {name}"
        for name, position in zip(terms.keys, terms.positions, strict=True)
    ]
    numbers = dict(terms.numbers)
    columns = {
        **{name: numbers.pop(name) for name in ("score", "scaled")},
        "weight": terms.weights.tolist(),
        **numbers,
    }
    length = float(trace.output.norm())
    sums = {
        "weight": fixed(float(terms.weights.sum()), 4),
        "‖w·v‖": f"‖y‖ = {fixed(length, 4)}",
        "share of y": fixed(sum(share or 0 for share in numbers["share of y"]), 4),
    }
    return names, columns, ["Σ = y", *(sums.get(name, "") for name in columns)]
