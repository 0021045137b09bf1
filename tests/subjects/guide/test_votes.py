"""Two votes on a question: only the teacher leads them on, and the counts are those who voted."""

from __future__ import annotations

import itertools
from typing import get_args

import pytest

from attention.subjects.guide.votes import Ballot, Move, Phase
from tests.properties import given, strategies

LEADS = {
    ("first", "close"): "talk",
    ("first", "reveal"): "revealed",
    ("talk", "again"): "second",
    ("talk", "reveal"): "revealed",
    ("second", "close"): "closed",
    ("second", "reveal"): "revealed",
    ("closed", "reveal"): "revealed",
}
ACTS = strategies.lists(
    strategies.sampled_from(get_args(Move))
    | strategies.tuples(strategies.sampled_from("abcd"), strategies.integers(0, 2)),
    max_size=40,
)


@pytest.mark.parametrize(("phase", "move"), [*itertools.product(get_args(Phase), get_args(Move))])
def test_a_move_leads_on_where_it_is_the_turn_of_it_and_nowhere_else(phase, move):
    ballot = Ballot(phase, {"a": 0}, {"a": 1})
    if move == "anew":
        assert ballot.moved(move) == Ballot(is_anew=True)
        return
    assert ballot.moved(move) == Ballot(LEADS.get((phase, move), phase), {"a": 0}, {"a": 1})
    assert (move in ballot.moves) == ((phase, move) in LEADS)


@pytest.mark.parametrize("phase", get_args(Phase))
def test_a_vote_counts_where_one_is_open_and_each_sees_the_vote_that_is_on(phase):
    ballot = Ballot(phase, {"a": 0}, {"b": 2}).voted("a", 1).voted("c", 1).voted("c", None)
    first, second = {"first": ({"a": 1}, {"b": 2}), "second": ({"a": 0}, {"b": 2, "a": 1})}.get(
        phase, ({"a": 0}, {"b": 2})
    )
    assert (ballot.first, ballot.second) == (first, second)
    seen = [ballot.choice(voter) for voter in "abc"]
    of_phase = {"first": [1, None], "talk": [0, None], "second": [1, 2], "closed": [None, 2]}
    assert seen == [*of_phase.get(phase, [0, 2]), None]


@given(ACTS, strategies.integers(0, 2))
def test_counts_are_those_who_voted_and_turns_are_the_difference_of_the_votes(acts, answer):
    ballot, open_since_reveal = Ballot(), True
    for act in acts:
        before = ballot
        ballot = ballot.moved(act) if isinstance(act, str) else ballot.voted(*act)
        if not isinstance(act, str):
            closed = before.phase not in ("first", "second")
            assert (ballot == before) or not closed
        open_since_reveal = (open_since_reveal or act == "anew") and act != "reveal"
        assert open_since_reveal == (ballot.phase != "revealed")
    right = [
        sum(votes[voter] == answer for voter in ballot.in_both)
        for votes in (ballot.first, ballot.second)
    ]
    to_right, to_wrong = ballot.turned(answer)
    assert to_right - to_wrong == right[1] - right[0]
    assert to_right + to_wrong <= len(ballot.in_both) <= min(len(ballot.first), len(ballot.second))
