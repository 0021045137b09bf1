"""Sentences on teams of heads."""

from __future__ import annotations

import pytest

from attention.analysis.losses_on_corpus import LOSSES_OVER
from attention.subjects.model import team_words
from attention.subjects.model.words import Answered
from tests.cases import over

OTHERS = f"{LOSSES_OVER} other sentences"


def answered(now: float, other: float, kind: str = "piece") -> Answered:
    after = sorted([("·Tom", now, 3), ("·Anna", other, 5)], key=lambda one: -one[1])
    return Answered(kind, -1, "Tom", 0.75, now, ([], after))


STEPS = {
    (0.75, 0.5, 0.25, 1): "Head 23.4 goes out: “Tom” falls from 75 % to 50 %.",
    (0.25, 0.5, 0.5, 2): "Head 23.4 goes out too: “Tom” rises from 25 % to 50 %.",
    (0.5, 0.5, 0.25, 2): "Head 23.4 goes out too: “Tom” stays at 50 %.",
    (0.75, 0.25, 0.5, 1): "Head 23.4 goes out: “Tom” falls from 75 % to 25 %; the model now says "
    "“Anna” (50 %).",
}


@over("case", STEPS)
def test_a_step_tells_how_the_answer_moves_and_who_leads(
    case: tuple[float, float, float, int],
) -> None:
    before, now, leads, stage = case
    words = team_words.step_words(answered(before, 0.25), answered(now, leads), (23, 4), stage)
    assert words == STEPS[case]


def test_a_step_of_a_vector_tells_how_far_it_has_moved() -> None:
    before, now = answered(0.25, 0.0, "vector"), answered(0.5, 0.0, "vector")
    for stage, more in ((1, ""), (2, ", before by 25 %")):
        words = team_words.step_words(before, now, (2, 3), stage)
        assert words.endswith(f": the vector of “Tom” has moved by 50 %{more}.")


COSTS = {
    ("piece", (0.25, 0.125), 2): f"{OTHERS} lose 0.250 ± 0.125 nats a piece without them.",
    ("piece", (-0.25, 0.0), 1): f"{OTHERS} lose −0.250 ± 0.000 nats a piece without it.",
    ("vector", (0.25, 0.125), 1): f"The words of {OTHERS} move by 25.0 ± 12.5 % without it.",
    ("piece", None, 1): "Heads are set as in another sentence, so they cost nothing elsewhere.",
}


@over("case", COSTS)
def test_a_cost_elsewhere_is_told_with_its_error(
    case: tuple[str, tuple[float, float] | None, int],
) -> None:
    assert team_words.elsewhere_words(*case) == COSTS[case]


SIX = "6 times two other heads of the same layers: from −25 to +12 points, on average −2.1"
CHANCES = {
    (2, 0.75): f"{SIX}; none does half as much as these two: believe these two.",
    (2, 0.5): f"{SIX}; one does half as much or more: do not believe these two.",
    (2, 0.25): f"{SIX}; one does as much: do not believe these two.",
    (2, 0.005): f"{SIX}; without these two the answer loses less than a point.",
}


@over("case", CHANCES)
def test_a_team_is_believed_only_where_no_other_takes_half_as_much(
    case: tuple[int, float],
) -> None:
    chance = [0.25, -0.125, 0.0, 0.0, 0.0, 0.0]
    assert team_words.chance_words("piece", *case, chance) == CHANCES[case]
    assert team_words.believed(case[1], chance) == (case[1] > 0.5)


def test_chance_of_one_head_of_vectors_and_of_none() -> None:
    words = team_words.chance_words("vector", 1, 0.75, [0.125, 0.375])
    assert words.startswith("Each of the 2 other heads of its layer: the vector moves by 12 % to")
    words = team_words.chance_words("piece", 1, 0.75, [])
    assert words == "These layers have too few other heads to compare with."


def test_how_many_were_tried_is_told_where_it_is_known() -> None:
    assert team_words.tried_words(24, 270) == "worst of 24 of 270 tried"
    assert team_words.tried_words(270, 270) == "worst of all 270"
    assert team_words.tried_words(None, 270) == ""


@pytest.mark.parametrize(
    ("stage", "head", "title"),
    [(0, None, "All on"), (1, (0, 7), "0.7 off"), (2, (23, 3), "and 23.3")],
)
def test_a_stage_is_called_after_the_head_that_goes_out(
    stage: int, head: tuple[int, int] | None, title: str
) -> None:
    assert team_words.title_of(stage, head) == title
