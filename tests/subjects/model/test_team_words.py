"""Sentences on teams of heads, held to random numbers."""

from __future__ import annotations

import re

import pytest

from attention.core.printing import fixed
from attention.subjects.model import team_words
from attention.subjects.model.team_words import First
from attention.subjects.model.words import Answered, name_of, percent, points
from tests.properties import given
from tests.properties import strategies as st

shares = st.floats(0, 1, width=32)
losses = st.floats(-1, 1, width=32)
heads = st.tuples(st.integers(0, 29), st.integers(0, 8))
counts = st.integers(1, 6)


def answered(before: float, now: float, other: float) -> Answered:
    after = sorted([("·Tom", now, 3), ("·Anna", other, 5)], key=lambda one: -one[1])
    return Answered("piece", -1, "Tom", before, now, ([], after))


@given(shares, shares, shares, shares, shares, heads, st.integers(1, 6))
def test_a_step_tells_how_the_answer_moves_and_who_leads(
    trained: float,
    before: float,
    now: float,
    led: float,
    leads: float,
    head: tuple[int, int],
    stage: int,
) -> None:
    one, two = answered(trained, before, led), answered(trained, now, leads)
    words = team_words.step_words(one, two, head, stage)
    assert words.startswith(f"Head {name_of(head)} goes out")
    assert (" too:" in words) == (stage > 1)
    first, *rest = words.split(": ", 1)[1].split(". ")
    if "falls" in first:
        assert now < before
    elif "rises" in first:
        assert now > before
    else:
        assert percent(now) in first
    if two.leader[0] == "Anna" != one.leader[0]:
        assert f"The model now says “Anna” ({percent(leads)})" in words
    elif two.leader[0] == "Tom" != one.leader[0]:
        assert "says “Tom” again" in words
    elif two.leader[0] == "Anna":
        moves = rest[0].split()[1]
        assert moves in ("rises", "falls", "stays")
        assert moves == "stays" or (moves == "rises") == (leads > led)
    else:
        assert not rest


@given(st.floats(-0.5, 3, width=32), st.floats(0, 0.25, width=32), counts)
def test_a_cost_elsewhere_is_told_no_surer_than_its_error(
    cost: float, error: float, count: int
) -> None:
    words = team_words.elsewhere_words("piece", (cost, error), count)
    size = -cost if "easier" in words else cost
    assert f"{fixed(size, 3)} ± {fixed(error, 3)} nats" in words
    sure = abs(cost) > 2 * error and abs(cost) >= 0.0005
    assert ("or nothing" in words) == (not sure)
    assert ("easier" in words) == (sure and cost < 0)
    assert ("harder" in words) == (sure and cost > 0)
    assert ("a little harder" in words) == (sure and 0 < cost < team_words.HARDER)
    assert "another sentence" in team_words.elsewhere_words("piece", None, count)
    assert "%" in team_words.elsewhere_words("vector", (cost, error), count)


firsts = st.none() | st.builds(
    First, losses, st.lists(losses, min_size=1, max_size=8), st.none() | heads
)


@given(counts, losses, st.lists(losses, max_size=20), firsts)
def test_a_team_is_believed_only_where_no_other_takes_half_as_much(
    count: int, loss: float, chance: list[float], first: First | None
) -> None:
    words = team_words.chance_words("piece", count, loss, chance, first)
    if not chance:
        assert "too few other heads" in words
        return
    low, high, mean = (-max(chance), -min(chance), -sum(chance) / len(chance))
    told = re.findall(r"from ([−+\d.]+) to ([−+\d.]+) points, on average ([−+\d.]+)\.", words)[0]
    for text, number in zip(told, (low, high, mean), strict=True):
        assert text.lstrip("+") == points(number)
        assert text.startswith("+") == (number > 0 and float(points(number)) > 0)
    safe = loss >= team_words.WORTH and max(chance) < loss / 2
    believes = words.endswith((": believe it.", ": believe them."))
    assert believes == safe == team_words.believed(loss, chance)
    assert ("less than a point" in words) == (loss < team_words.WORTH)
    if safe or loss < team_words.WORTH:
        return
    does = re.findall(r"does (as much|nearly as much|half of it, or more):", words)
    expected = "as much" if max(chance) >= loss else "half of it, or more"
    assert does[0] in (expected, "nearly as much")
    assert (does[0] == "nearly as much") == (0.8 * loss <= max(chance) < loss)
    if count > 1:
        trusted = first is not None and team_words.believed(first.loss, first.chance)
        assert ("believe the first head, not" in words) == trusted
        assert ("do not believe these" in words) == (not trusted)
        rival = "Nor the first alone" in words
        assert rival <= (first is not None and max(first.chance) >= first.loss / 2)


@given(st.integers(2, 6), losses, st.lists(shares, min_size=1, max_size=20))
def test_of_vectors_chance_is_told_by_how_far_they_move(
    count: int, loss: float, chance: list[float]
) -> None:
    words = team_words.chance_words("vector", count, loss, chance, None)
    assert f"moves by {percent(min(chance))} to {percent(max(chance))}" in words


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
