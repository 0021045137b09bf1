"""Sentences on heads that one can break: where each looks, what its loss does, and controls."""

from __future__ import annotations

from attention.analysis.gallery import Exhibit
from attention.analysis.losses_on_corpus import LOSSES_OVER
from attention.core.printing import fixed
from attention.subjects.model.words import apart, name_of, percent, word_of

INTRODUCTION = (
    "Each answer of SmolLM2 here hangs on one of its 270 heads. Switch it off, and see it fall."
)


def looks_words(one: Exhibit) -> str:
    """Where the head looks from the last piece, in a few words."""
    word, share = word_of(one.pieces[one.looks_at]), one.weights[one.looks_at]
    return f"Head {name_of((one.layer, one.head))} looks at “{word}”: {percent(share)}."


def instead_words(one: Exhibit) -> str:
    """The answer without the head, in a few words."""
    fall = one.fall
    if fall.instead == fall.word:
        return f"Without it still “{word_of(fall.word)}”, but less sure."
    return f"Without it: “{word_of(fall.instead)}”, {percent(fall.share)}."


def control_words(one: Exhibit) -> list[tuple[str, str]]:
    """Controls, each named with what it shows: other heads off, a sentence that does well without
    this one, and the cost on other sentences with its standard error."""
    cost, error = one.elsewhere
    before, after = apart(one.control.before, one.control.after)
    return [
        (f"head {name_of(one.next_head)} off instead", percent(one.next_after)),
        ("half of all heads, one by one", f"within {fixed(100 * one.half_within, 1)} points"),
        (f"“{one.control.text}”", f"{word_of(one.control.word)} {before} → {after}"),
        (f"{LOSSES_OVER} other sentences", f"{fixed(cost, 3)} ± {fixed(error, 3)} nats a piece"),
    ]
