"""Claims on heads: what each threshold takes, and the head that is shown for an answer."""

from __future__ import annotations

import math

import pytest
import torch

from attention.atlas import claims
from attention.atlas.claims import elsewhere
from attention.atlas.deciding import deciding
from attention.atlas.earned import costs_of
from attention.atlas.passport import Cost, Mean
from attention.atlas.words import claim_words
from tests.cases import over

NEEDED, MOVED = claims.NEEDED_ELSEWHERE, claims.MOVED_ELSEWHERE
# Means and widths of both halves, and if the answer is a vector.
COSTS = {
    ((0.04, 0.05), 0.01, False): "needs",
    ((0.04, 0.02), 0.01, False): "is open",  # one half alone
    ((0.04, 0.05), 0.06, False): "is open",  # an interval that holds 0
    ((0.02, 0.02), 0.005, False): "loses nothing",
    ((0.02, 0.02), 0.015, False): "is open",  # that ends above
    ((-0.04, -0.05), 0.01, False): "gains",
    ((-0.01, 0.0), 0.01, False): "loses nothing",
    ((0.025, 0.025), 0.001, False): "loses nothing",
    ((0.025, 0.025), 0.001, True): "needs",
}


@over("case", COSTS)
def test_a_claim_on_other_sentences_needs_both_halves_their_intervals_and_its_threshold(
    case: tuple[tuple[float, float], float, bool],
) -> None:
    means, width, vectors = case
    cost = Cost(*(Mean(mean, mean - width, mean + width, 40) for mean in means))
    assert elsewhere(cost, vectors) == COSTS[case]


def test_one_statistic_says_which_heads_other_sentences_need() -> None:
    costs = costs_of("smollm2")
    found = {head: elsewhere(one.elsewhere, False) for head, one in costs.items()}
    assert [found[head] for head in ((1, 0), (23, 5), (11, 5))] == ["needs"] * 3
    assert found[23, 4] == found[24, 7] == "loses nothing"
    assert claim_words(costs[23, 3].elsewhere, False).startswith("It is open")  # up to .057
    assert list(found.values()).count("needs") == 6


def changes(*each: tuple[float, float]) -> torch.Tensor:
    """Of so many heads of one layer."""
    return torch.tensor([each])


# Changes of the answer and of the likeliest piece, from .6; weights on a word; the head, those that
# cost about as much, and if one decides.
SHOWN = {
    ("alone", ((-0.4, -0.2), (-0.1, -0.1)), (0.1, 0.9)): (0, 0, True),
    ("as much", ((-0.31, -0.31), (-0.29, -0.29)), (0.5, 0.96)): (1, 1, True),
    ("none", ((-0.1, -0.1), (-0.09, -0.09)), (0.5, 0.1)): (0, 1, False),
    ("another leads", ((-0.2, -0.1), (-0.1, -0.1)), (0.0, 0.9)): (0, 0, True),
    ("gains", ((0.1, 0.1), (0.05, 0.05)), (0.1, 0.9)): (1, 0, False),
}


@over("case", SHOWN)
def test_the_head_shown_costs_about_as_much_as_any_and_looks_most_at_a_word(
    case: tuple[str, tuple[tuple[float, float], ...], tuple[float, float]],
) -> None:
    _, each, looks = case
    found = deciding(changes(*each), 0.6, 1, torch.tensor([looks]))
    assert found is not None
    assert (found.head[1], len(found.others), found.decides) == SHOWN[case]
    assert found.cost == pytest.approx(-each[found.head[1]][0])


def test_no_head_is_shown_before_all_are_tried_and_a_vector_is_decided_by_its_movement() -> None:
    looks = torch.tensor([[0.5, 0.5]])
    assert deciding(changes((-0.5, 0.0), (math.nan, math.nan)), 0.6, 1, looks) is None
    for moved, decides in ((0.06, True), (0.04, False)):
        found = deciding(changes((moved, moved), (0.0, 0.0)), 0.0, -1, looks)
        assert found is not None
        assert (found.head, found.decides) == ((0, 0), decides)
