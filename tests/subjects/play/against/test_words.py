"""Two sentences side by side, slot by slot, and how far two rows diverge."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from attention.analysis import comparison
from attention.core.analysis import divergence_bits, divergence_terms, entropy_bits
from attention.subjects.play.against import words as against_words
from attention.subjects.play.against.change_words import change_words
from attention.subjects.play.against.words import Comparison
from tests.cases import over
from tests.properties import given
from tests.properties import strategies as st
from tests.subjects.play.how.making import result_of

rows = st.lists(st.floats(0, 1, width=32), min_size=5, max_size=5).filter(lambda row: sum(row) > 0)


def shares(weights: list[float]) -> Tensor:
    numbers = torch.tensor(weights, dtype=torch.float64)
    return numbers / numbers.sum()


def of_pair(first: str, second: str) -> Comparison:
    a, b = result_of(first), result_of(second)
    return against_words.of_sentences(a.tokens, a.trace, b.tokens, b.trace)


def test_a_row_that_does_not_sum_to_1_has_no_divergence_from_any_other():
    nothing, half, some = torch.tensor([[0.0, 0, 0], [0.25, 0.25, 0], [0, 1, 0]])
    pairs = [(nothing, some), (some, nothing), (nothing, nothing), (half, some), (half, half)]
    assert all(math.isnan(divergence_bits(p, q)) for p, q in pairs)


@given(p=rows, q=rows)
def test_divergence_is_symmetric_lies_within_a_bit_and_is_the_sum_of_its_terms(p, q):
    left, right = shares(p), shares(q)
    there, back = float(divergence_bits(left, right)), float(divergence_bits(right, left))
    assert 0 <= there <= 1
    assert math.isclose(there, back, abs_tol=1e-12)
    assert float(divergence_bits(left, left)) == 0.0
    terms = divergence_terms(left, right)
    assert (terms >= 0).all()
    assert math.isclose(float(terms.sum()), there, abs_tol=1e-12)
    mean = (left + right) / 2
    gain = entropy_bits(mean) - (entropy_bits(left) + entropy_bits(right)) / 2
    assert math.isclose(float(gain), there, abs_tol=1e-9)


SLOTS: dict[tuple[str, str], comparison.Slots] = {
    ("a b c", "a x c"): ((0, 0), (1, 1), (2, 2)),
    ("a b c", "a c"): ((0, 0), (1, None), (2, 1)),
    ("a c", "a b c"): ((0, 0), (None, 1), (1, 2)),
    ("a b c d", "a x d"): ((0, 0), (1, 1), (2, None), (3, 2)),
    ("a", "x y"): ((0, 0), (None, 1)),
    ("a a", "a a a"): ((0, 0), (1, 1), (None, 2)),
}


def test_sentences_are_laid_side_by_side():
    assert {pair: comparison.align(*map(tuple, map(str.split, pair))) for pair in SLOTS} == SLOTS


sentences = st.lists(st.sampled_from("abcd"), min_size=1, max_size=11).map(tuple)


@given(first=sentences, second=sentences)
def test_every_token_stands_in_exactly_one_slot_and_in_order(first, second):
    slots = comparison.align(first, second)
    assert [i for i, _ in slots if i is not None] == list(range(len(first)))
    assert [j for _, j in slots if j is not None] == list(range(len(second)))
    assert (None, None) not in slots
    assert comparison.align(first, first) == tuple((at, at) for at in range(len(first)))


def test_a_pair_has_each_sentences_own_weights_in_its_slots():
    compared = of_pair("the cat walks home", "the cat home today")
    assert compared.names == ("the", "cat", "walks", "home", "today")
    assert compared.in_a.tolist() == [True, True, True, True, False]
    assert compared.in_b.tolist() == [True, True, False, True, True]
    second = result_of("the cat home today").trace.weights
    assert torch.equal(compared.a[:4, :4], result_of("the cat walks home").trace.weights)
    assert torch.equal(compared.b[compared.in_b][:, compared.in_b], second)
    assert compared.a[:, 4].tolist() == compared.a[4].tolist() == [0.0] * 5
    assert compared.divergence.isnan().tolist() == [False, False, True, False, True]


def test_words_that_differ_are_marked_and_named_together():
    compared = of_pair("the cat walks", "the cat sleeps")
    assert compared.names == ("the", "cat", "walks / sleeps")
    assert compared.changed.tolist() == [False, False, True]
    assert compared.changed_words == ("walks", "sleeps")
    assert not compared.divergence.isnan().any()


# The sentence of the weight that changes most, true for its numbers whatever these are


ROWS = [[0.5, 0.3, 0.2], [0.1, 0.7, 0.2], [0.2, 0.3, 0.5]]
LAST = "no weight changes more."
SIGNED = {"shares": False}
# Weights before and after, what else is given, and the sentence.
CASES: dict[str, tuple[list[list[float]], list[list[float]], dict[str, Any], str]] = {
    "one loses what another gains": (
        ROWS,
        [ROWS[0], [0.45, 0.3, 0.25], ROWS[2]],
        {},
        f"With B “b” looks less at itself, 70 → 30 %, and more at a, 10 → 45 %: {LAST}",
    ),
    "a small change has tenths": (
        [[0.5, 0.5], [0.502, 0.498]],
        [[0.5, 0.5], [0.504, 0.496]],
        {},
        f"With B “b” looks more at a, 50.2 → 50.4 %, and less at itself, 49.8 → 49.6 %: {LAST}",
    ),
    "none": (ROWS, ROWS, {}, "With B no weight changes by as much as 0.1 %."),
    "nothing is left": (
        [[0.75, 0.25], [0.5, 0.5]],
        [[0.0, 0.0], [0.5, 0.5]],
        {},
        "With B “a” may look at nothing any more.",
    ),
    "first keys": (
        [[0.0, 0.0], [0.5, 0.5]],
        [[0.75, 0.25], [0.5, 0.5]],
        {},
        f"With B “a” looks more at itself, 0 → 75 %: {LAST}",
    ),
    "a query of one side alone": (
        [[1.0, 0, 0], [0, 1, 0], [0, 0, 1]],
        [[1.0, 0, 0], [0, 0, 0], [0, 0.25, 0.75]],
        {"both": torch.tensor([True, False, True])},
        f"With B “c” looks more at b, 0 → 25 %, and less at itself, 100 → 75 %: {LAST}",
    ),
    "below 0": (
        [[1.0, 0.0], [0.25, 0.75]],
        [[-0.05, 0.14], [0.25, 0.7501]],
        SIGNED,
        "With B the weight of “a” on itself goes from 1.00 to −0.05, and that on b from 0.00 to "
        f"0.14: {LAST}",
    ),
    "below 0, close": (
        [[1.0, 0.0], [0.25, 0.75]],
        [[1.002, 0.0], [0.25, 0.75]],
        SIGNED,
        f"With B the weight of “a” on itself goes from 1.000 to 1.002: {LAST}",
    ),
    "below 0, none": (ROWS, ROWS, SIGNED, "With B no weight changes by as much as 0.001."),
    "below 0, nothing is left": (
        [[1.0, 0.0], [0.0, 0.5]],
        [[0.0, 0.0], [0.0, 0.5]],
        SIGNED,
        "With B “a” takes nothing in any more.",
    ),
}


@over("case", CASES)
def test_the_greatest_change_is_told_with_what_gains_and_what_loses_it(case):
    before, after, more, sentence = CASES[case]
    numbers = torch.tensor(before), torch.tensor(after)
    assert "".join(change_words(*numbers, "abc"[: len(before)], "With B", **more)) == sentence
