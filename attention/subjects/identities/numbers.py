"""Cases of Identities: the numbers that a claim is checked on."""

from __future__ import annotations

from attention.app.state import shared
from attention.app.state.view import View
from attention.inputs.text import tokenize
from attention.inputs.vectors import look_up
from attention.subjects.identities.claim import Case
from attention.subjects.identities.identities import (
    MAX_TOKENS,
    ClaimSettings,
    case_of,
    random_case,
)


def case_for(view: View) -> tuple[Case | None, list[str]]:
    """Case that the claim is checked on, None while there are no words; and what was left out."""
    settings = view.of(ClaimSettings)
    if settings.source == "random":
        return random_case(settings), []
    everything = tokenize(view["s"])
    tokens = everything[:MAX_TOKENS]
    if not tokens:
        return None, []
    problems = []
    if len(everything) > MAX_TOKENS:
        problems.append(
            f"The first {MAX_TOKENS} of {len(everything)} tokens are used on this page."
        )
    embedded = look_up(shared.load_vectors("glove"), tokens)
    if missing := embedded.known.count(False):
        problems.append(f"{missing} of {len(tokens)} tokens have no vector and count as zeros.")
    return case_of(settings, embedded.x, tokens), problems
