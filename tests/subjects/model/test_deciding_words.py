"""Heads that decide an answer, and the title above their map, held to the effects of all heads."""

from __future__ import annotations

import math

import pytest
import torch

from attention.subjects.model import deciding_words as told
from attention.subjects.model.words import Answered, name_of, quoted
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


@given(losses, st.sampled_from(["piece", "written", "vector"]))
def test_a_title_is_true_of_the_effects_of_all_heads(some: list[float], kind: str) -> None:
    now = answered(kind)
    effects = -now.sign * torch.tensor(some).reshape(LAYERS, HEADS)
    title = told.heading(packaged("minilm"), now, told.deciding(effects, now.sign))
    first, following = sorted(some, reverse=True)[:2]
    if kind == "vector":
        assert title.startswith("No head alone") == (first < told.DECIDES)
        assert title.startswith("One head") == (
            first >= told.DECIDES and first >= told.ALONE * following
        )
        named = [at for at in range(len(some)) if name_of(divmod(at, HEADS)) in words_of(title)]
        by_cost = sorted((some[at] for at in named), reverse=True)
        assert by_cost == sorted(some, reverse=True)[: len(named)]
        assert len(named) == (first > 0) + title.startswith("Several")
        return
    assert title.startswith("No single head") == (first < told.DECIDES)
    asks = first >= told.DECIDES and first >= told.ALONE * following
    assert (title.endswith("hang on?")) == asks
    if "several" in title:
        assert following > first / told.ALONE
        for cost in (first, following):
            named = [divmod(at, HEADS) for at, one in enumerate(some) if one == cost]
            assert any(name_of(head) in title for head in named)


def words_of(title: str) -> list[str]:
    return title.replace(":", " ").split()


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
