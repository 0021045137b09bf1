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


def test_of_weights_below_0_nobody_says_that_they_look() -> None:
    before = torch.tensor([[1.0, 0.0], [0.25, 0.75]])
    after = torch.tensor([[-0.05, 0.14], [0.25, 0.7501]])
    said = change_words(before, after, ["a", "b"], "With B", shares=False)
    assert "".join(said) == (
        "With B the weight of “a” on itself goes from 1.00 to −0.05, and that on b from 0.00 to "
        "0.14: no weight changes more."
    )
    assert said[1::2] == ["itself", "b"]
    close = change_words(before, before + 0.002, ["a", "b"], "With B", shares=False)
    assert re.search(r"goes from \d\.\d\d0 to \d\.\d\d2", "".join(close))
    none = change_words(before, before, ["a", "b"], "With B", shares=False)
    assert none == ["With B no weight changes by as much as 0.001."]
    nothing = change_words(before, torch.zeros(2, 2), ["a", "b"], "With B", shares=False)
    assert nothing == ["With B “a” takes nothing in any more."]


@settings(max_examples=60)
@given(strategies.integers(0, 9999))
def test_of_any_signs_the_sentence_has_the_numbers_of_the_greatest_change(seed: int) -> None:
    before, after = drawn(7, 7, seed=seed), drawn(7, 7, seed=seed + 1)
    said = change_words(before, after, NAMES, "With B", shares=False)
    query, key = divmod(int((after.double() - before.double()).abs().argmax()), 7)
    assert said[0] == f"With B the weight of “w{query}” on "
    assert said[1] == ("itself" if key == query else f"w{key}")
    ends = (f"{float(side[query, key]):.2f}".replace("-", "−") for side in (before, after))
    assert said[2].startswith(" goes from {} to {}".format(*ends))
    assert "looks" not in "".join(said)
