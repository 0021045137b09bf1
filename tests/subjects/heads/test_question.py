"""The question on the pictures of heads, and the replies to a guess, true for any weights."""

from __future__ import annotations

import re

import torch
from torch import Tensor

from attention.analysis.heads import overview_of
from attention.core.printing import percent
from attention.subjects.heads.question import CLEAR, CLOSE, LOOKS, HeadQuestion, question_on
from tests.cases import over
from tests.properties import given, settings, strategies
from tests.subjects.steps.making import drawn

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


@over(
    "case",
    [
        (-1, "Which head looks one word back?", "a stripe just below the diagonal"),
        (1, "Which head looks one word ahead?", "a stripe just above the diagonal"),
        (0, "Which head looks at the word itself?", "a stripe along the diagonal"),
        (-9, "Which head looks at the first word?", "a dark first column"),
    ],
)
def test_a_head_that_does_one_thing_alone_is_asked_for(case: tuple[int, str, str]) -> None:
    offset, words, picture = case
    asked = question_on(overview_of(looking(offset), None))
    assert asked is not None
    assert (asked.words, asked.best) == (words, 3)
    assert picture in "".join(asked.verdict(3))
    assert "".join(asked.verdict(3)).startswith("Right: head 3. ")
    assert "".join(asked.verdict(1)).startswith("No: head 1 has ")


def test_heads_that_are_alike_or_alone_are_not_asked_about() -> None:
    assert question_on(overview_of(torch.full((HEADS, 7, 7), 1 / 7), None)) is None
    assert question_on(overview_of(drawn_weights(0, 9.0)[:1], None)) is None
    assert question_on(overview_of(torch.ones(HEADS, 1, 1), None)) is None


@settings(max_examples=60)
@given(SEEDS, strategies.floats(0.5, 30.0), strategies.integers(0, HEADS - 1))
def test_question_and_reply_are_true_of_any_weights(
    seed: int, sharpness: float, guess: int
) -> None:
    seen = overview_of(drawn_weights(seed, sharpness), None)
    asked = question_on(seen)
    if asked is None:
        leads = (sorted(seen.measures[name].tolist())[-2:] for name in LOOKS)
        assert all(most - next_one < CLOSE for next_one, most in leads)
        return
    shares = seen.measures[asked.measure]
    best = int(shares.argmax())
    assert asked.best == best
    assert asked.words.endswith(" more than the others?") == (float(shares[best]) < CLEAR)
    said = "".join(asked.verdict(guess))
    told = re.findall(r"\d+\.\d %", said)
    if guess == best:
        others = torch.cat([shares[:best], shares[best + 1 :]])
        assert said.startswith(f"Right: head {best}. ")
        assert told == [percent(float(shares[best]), 1), percent(float(others.max()), 1)]
        return
    near = float(shares[best] - shares[guess]) < CLOSE
    assert said.startswith("Nearly" if near else "No")
    assert told == [percent(float(shares[head]), 1) for head in (guess, best)]


def test_a_guess_close_to_the_best_is_nearly_right() -> None:
    asked = HeadQuestion("previous", (0.61, 0.2, 0.58))
    assert "".join(asked.verdict(2)) == (
        "Nearly: head 2 has 58.0 % of its attention one word back, head 0 has 61.0 %. "
        "Its picture has a stripe just below the diagonal."
    )
