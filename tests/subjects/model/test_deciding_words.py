"""Heads that decide an answer, and the title above their map, held to the effects of all heads."""

from __future__ import annotations

import math

import pytest
import torch

from attention.subjects.model import deciding_words as told
from attention.subjects.model.words import Answered, quoted
from tests.cases import over
from tests.properties import given
from tests.properties import strategies as st
from tests.trained.packaged import packaged

LAYERS, HEADS = 3, 5
losses = st.lists(st.floats(-0.5, 0.875, width=32), min_size=15, max_size=15)


def answered(kind: str = "piece", word: str = "west") -> Answered:
    return Answered(kind, 4, word, 0.97, 0.97)


@given(losses, st.sampled_from([1, -1]), st.integers(0, 15))
def test_the_first_head_costs_most_of_those_that_were_tried_and_the_next_the_most_of_the_others(
    some: list[float], sign: int, untried: int
) -> None:
    effects = -sign * torch.tensor(some)
    effects[:untried] = math.nan
    found = told.deciding(effects.reshape(LAYERS, HEADS), sign)
    known = sorted(some[untried:], reverse=True)
    if len(known) < 2:
        assert found is None
        return
    assert found is not None
    assert found.costs == pytest.approx(tuple(known[:2]))
    places = [layer * HEADS + head for layer, head in found.heads]
    assert len({*places}) == 2
    assert [some[place] for place in places] == pytest.approx(known[:2])
    assert found.tried_all == (untried == 0)


TITLES = {
    ("piece", 0.5, 0.125): "Which head does “west” hang on?",
    ("piece", 0.5, 0.375): "“west” hangs on several heads, first 1.2 and 2.3",
    ("written", 0.04, 0.0): "No single head decides “west”: find the team",
    ("vector", 0.5, 0.125): "One head moves the vector of “west” most: 1.2",
    ("vector", 0.5, 0.375): "Several heads move the vector of “west”, 1.2 and 2.3 most",
    ("vector", 0.04, 0.0): "No head alone moves the vector of “west” far: 1.2 moves it most",
    ("vector", 0.0, 0.0): "No head alone moves the vector of “west” far",
}


@over("case", TITLES)
def test_a_title_is_true_of_the_effects_of_all_heads(case: tuple[str, float, float]) -> None:
    kind, first, following = case
    now, effects = answered(kind), torch.zeros(LAYERS, HEADS)
    effects[1, 2], effects[2, 3] = -now.sign * first, -now.sign * following
    title = told.heading(packaged("minilm"), now, told.deciding(effects, now.sign))
    assert title == TITLES[case]


def test_while_heads_are_being_tried_the_title_asks_which_one_decides() -> None:
    effects = torch.full((LAYERS, HEADS), math.nan)
    model = packaged("minilm")
    assert told.heading(model, answered(), told.deciding(effects, 1)) == (
        "72 heads, and a switch on each"
    )
    effects[2] = -0.5
    found = told.deciding(effects, 1)
    assert told.heading(model, answered(), found) == "Which of 72 heads decides “west”?"


@pytest.mark.parametrize("words", [("·", "a space"), ("··", "2 spaces"), ("#", "“#”")])
def test_an_answer_of_spaces_is_named_in_words(words: tuple[str, str]) -> None:
    word, named = words
    assert quoted(word) == named
    effects = torch.tensor([[-0.5, 0.0]])
    title = told.heading(packaged("minilm"), answered(word=word), told.deciding(effects, 1))
    assert title == f"Which head does {named} hang on?"
