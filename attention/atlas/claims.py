"""Thresholds of all claims on heads, each named once: passports, window and guide use these.

A mean alone is no claim: on both halves of the texts its interval must lie on one side, too.
"""

from __future__ import annotations

from typing import Literal

from attention.atlas.passport import Cost

NEEDED = 0.05  # of an answer: a kind of prompts that loses less does not need a head
NEEDED_ELSEWHERE = 0.03  # nats a piece: sentences at large that lose less do not need it
MOVED_ELSEWHERE = 0.02  # of a cosine: the same of models whose answer is a vector
DECIDES = 0.5  # of an answer: no more is left of it without a head that decides it
SURVIVES = 0.05  # of a probability: what each test must take, for a head to decide an answer
MOVES = 0.05  # of a cosine: a head that moves a vector less does not decide it
AS_COSTLY = 0.8  # of what the most costly head costs: one that costs less is not shown in its place
SURE = 0.3  # of a probability: an answer below is a guess
AS_MUCH = 0.5  # of what a team costs: where chance takes as much, it is not believed

Elsewhere = Literal["needs", "loses nothing", "gains", "is open"]


def elsewhere(cost: Cost, of_vectors: bool) -> Elsewhere:
    """Claim on a head's loss to sentences at large. of_vectors: if its answer is a vector."""
    least = MOVED_ELSEWHERE if of_vectors else NEEDED_ELSEWHERE
    if all(half.low > 0 and half.mean >= least for half in cost.halves):
        return "needs"
    if all(half.high < 0 and half.mean <= -least for half in cost.halves):
        return "gains"
    if all(-least < half.low and half.high < least for half in cost.halves):
        return "loses nothing"
    return "is open"
