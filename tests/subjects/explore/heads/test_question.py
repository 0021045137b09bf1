"""The question on the pictures of heads, and the replies to a guess, true for any weights."""

from __future__ import annotations

import torch
from torch import Tensor

from attention.analysis.heads import overview_of
from attention.subjects.explore.heads.question import CLEAR, CLOSE, LOOKS, HeadQuestion, question_on
from tests.cases import over
from tests.properties import given, settings, strategies
from tests.subjects.explore.how.making import drawn

SEEDS = strategies.integers(0, 9999)
HEADS, TOKENS = 5, 7


def drawn_weights(seed: int, sharpness: float) -> Tensor:
    return (sharpness * drawn(HEADS, TOKENS, TOKENS, seed=seed)).softmax(-1)


def looking(offset: int) -> Tensor:
    """Heads that look anywhere, but for the fourth, which looks so many tokens further."""
    weights = drawn_weights(3, 0.5)
    rows = torch.arange(TOKENS)
    weights[3] = torch.eye(TOKENS)[(rows + offset).clamp(0, TOKENS - 1)]
    return weights


ASKED = {
    -1: "Which head looks one word back?",
    1: "Which head looks one word ahead?",
    0: "Which head looks at the word itself?",
    -9: "Which head looks at the first word?",
}


@over("offset", ASKED)
def test_a_head_that_does_one_thing_alone_is_asked_for(offset: int) -> None:
    asked = question_on(overview_of(looking(offset), None))
    assert asked is not None
    assert (asked.words, asked.best) == (ASKED[offset], 3)


def test_heads_that_are_alike_or_alone_are_not_asked_about() -> None:
    assert question_on(overview_of(torch.full((HEADS, 7, 7), 1 / 7), None)) is None
    assert question_on(overview_of(drawn_weights(0, 9.0)[:1], None)) is None
    assert question_on(overview_of(torch.ones(HEADS, 1, 1), None)) is None


@settings(max_examples=60)
@given(SEEDS, strategies.floats(0.5, 30.0))
def test_the_question_is_true_of_any_weights(seed: int, sharpness: float) -> None:
    seen = overview_of(drawn_weights(seed, sharpness), None)
    asked = question_on(seen)
    if asked is None:
        leads = (sorted(seen.measures[name].tolist())[-2:] for name in LOOKS)
        assert all(most - next_one < CLOSE for next_one, most in leads)
        return
    shares = seen.measures[asked.measure]
    assert asked.best == int(shares.argmax())
    assert asked.words.endswith(" more than the others?") == (float(shares.max()) < CLEAR)


VERDICTS = {
    0: "Right: head 0 has 61.0 % of its attention one word back, the next one 58.0 %.",
    1: "No: head 1 has 20.0 % of its attention one word back, head 0 has 61.0 %.",
    2: "Nearly: head 2 has 58.0 % of its attention one word back, head 0 has 61.0 %.",
}


@over("guess", VERDICTS)
def test_a_guess_is_answered_with_its_share_beside_that_of_the_best(guess: int) -> None:
    parts = HeadQuestion("previous", (0.61, 0.2, 0.58)).verdict(guess)
    assert ("".join(parts), parts[1]) == (VERDICTS[guess], "head 0")
