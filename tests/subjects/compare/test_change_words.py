"""The sentence of the weight that changes most, true for its numbers whatever these are."""

from __future__ import annotations

import re

import torch
from torch import Tensor

from attention.core.printing import percent
from attention.subjects.compare.change_words import change_words
from tests.properties import given, settings, strategies
from tests.subjects.steps.making import drawn

NAMES = [f"w{at}" for at in range(7)]
SEEDS = strategies.integers(0, 9999)
SAYS = re.compile(r"With B “(\w+)” looks (more|less) at (\w+), (\S+) → (\S+ %)")
ALSO = re.compile(r", and (more|less) at (\w+), (\S+) → (\S+ %): no weight changes more\.")


def weights(seed: int, sharpness: float) -> Tensor:
    return (sharpness * drawn(7, 7, seed=seed)).softmax(-1)


def test_the_greatest_change_is_said_with_what_gains_and_what_loses_it() -> None:
    before = torch.tensor([[0.5, 0.3, 0.2], [0.1, 0.7, 0.2], [0.2, 0.3, 0.5]])
    after = before.clone()
    after[1] = torch.tensor([0.45, 0.3, 0.25])
    assert "".join(change_words(before, after, ["a", "b", "c"], "With B")) == (
        "With B “b” looks less at itself, 70 → 30 %, and more at a, 10 → 45 %: "
        "no weight changes more."
    )
    assert change_words(before, after, ["a", "b", "c"], "With B")[1::2] == ["itself", "a"]


def test_small_changes_have_tenths_and_none_is_said_to_be_none() -> None:
    before = torch.tensor([[0.5, 0.5], [0.502, 0.498]])
    after = torch.tensor([[0.5, 0.5], [0.504, 0.496]])
    assert "".join(change_words(before, after, ["a", "b"], "With B")).startswith(
        "With B “b” looks more at a, 50.2 → 50.4 %, and less at itself, 49.8 → 49.6 %"
    )
    assert change_words(before, before, ["a", "b"], "With B") == [
        "With B no weight changes by as much as 0.1 %."
    ]


def test_a_query_that_is_left_with_nothing_and_one_that_gets_its_first_keys_are_said() -> None:
    some, none = torch.tensor([[0.75, 0.25], [0.5, 0.5]]), torch.zeros(2, 2)
    none[1] = 0.5
    assert change_words(some, none, ["a", "b"], "With B") == [
        "With B “a” may look at nothing any more."
    ]
    assert "".join(change_words(none, some, ["a", "b"], "With B")) == (
        "With B “a” looks more at itself, 0 → 75 %: no weight changes more."
    )


def test_what_stands_on_one_side_alone_is_not_compared_as_a_query() -> None:
    before, after = torch.eye(3), torch.eye(3)
    after[1], after[2] = 0, torch.tensor([0.0, 0.2, 0.8])
    both = torch.tensor([True, False, True])
    assert change_words(before, after, ["a", "b", "c"], "With B", both)[0].startswith("With B “c”")


@settings(max_examples=60)
@given(SEEDS, strategies.floats(0.0, 8.0), strategies.booleans())
def test_the_sentence_is_true_of_any_weights(seed: int, sharpness: float, signed: bool) -> None:
    before, after = weights(seed, 2.0), weights(seed + 1, sharpness)
    if signed:
        before, after = 2 * before - 0.2, 2 * after - 0.2
    change = (after - before).double()
    said = "".join(change_words(before, after, NAMES, "With B"))
    first, second = SAYS.match(said), ALSO.search(said)
    assert first
    query = NAMES.index(first[1])
    ends = [first.groups()[1:], *([second.groups()] if second else [])]
    assert float(change[query].abs().max()) == float(change.abs().max())
    for how, name, told_before, told_after in ends:
        key = query if name == "itself" else NAMES.index(name)
        assert float(change[query, key]) == float(
            change[query].max() if how == "more" else change[query].min()
        )
        digits = int("." in told_before)
        told = percent(float(before[query, key]), digits), percent(float(after[query, key]), digits)
        assert (f"{told_before} %", told_after) == told
        assert told[0] != told[1]
