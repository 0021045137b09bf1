"""Two sentences side by side, slot by slot, and how far two rows diverge."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from attention.analysis import comparison
from attention.core.analysis import divergence_bits, divergence_terms, entropy_bits
from attention.subjects.explore.against import words as against_words
from attention.subjects.explore.against.words import Comparison
from tests.properties import given
from tests.properties import strategies as st
from tests.subjects.explore.how.making import result_of

rows = st.lists(st.floats(0, 1, width=32), min_size=5, max_size=5).filter(lambda row: sum(row) > 0)


def shares(weights: list[float]) -> Tensor:
    numbers = torch.tensor(weights, dtype=torch.float64)
    return numbers / numbers.sum()


def of_pair(first: str, second: str) -> Comparison:
    a, b = result_of(first), result_of(second)
    return against_words.of_sentences(a.tokens, a.trace, b.tokens, b.trace)


def test_a_row_that_does_not_sum_to_1_has_no_divergence_from_any_other() -> None:
    nothing, half, some = torch.tensor([[0.0, 0, 0], [0.25, 0.25, 0], [0, 1, 0]])
    pairs = [(nothing, some), (some, nothing), (nothing, nothing), (half, some), (half, half)]
    assert all(math.isnan(divergence_bits(p, q)) for p, q in pairs)


@given(p=rows, q=rows)
def test_divergence_is_symmetric_lies_within_a_bit_and_is_the_sum_of_its_terms(
    p: list[float], q: list[float]
) -> None:
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


def test_sentences_are_laid_side_by_side() -> None:
    assert {pair: comparison.align(*map(tuple, map(str.split, pair))) for pair in SLOTS} == SLOTS


sentences = st.lists(st.sampled_from("abcd"), min_size=1, max_size=11).map(tuple)


@given(first=sentences, second=sentences)
def test_every_token_stands_in_exactly_one_slot_and_in_order(
    first: tuple[str, ...], second: tuple[str, ...]
) -> None:
    slots = comparison.align(first, second)
    assert [i for i, _ in slots if i is not None] == list(range(len(first)))
    assert [j for _, j in slots if j is not None] == list(range(len(second)))
    assert (None, None) not in slots
    assert comparison.align(first, first) == tuple((at, at) for at in range(len(first)))


def test_a_pair_has_each_sentences_own_weights_in_its_slots() -> None:
    compared = of_pair("the cat walks home", "the cat home today")
    assert compared.names == ("the", "cat", "walks", "home", "today")
    assert compared.in_a.tolist() == [True, True, True, True, False]
    assert compared.in_b.tolist() == [True, True, False, True, True]
    second = result_of("the cat home today").trace.weights
    assert torch.equal(compared.a[:4, :4], result_of("the cat walks home").trace.weights)
    assert torch.equal(compared.b[compared.in_b][:, compared.in_b], second)
    assert compared.a[:, 4].tolist() == compared.a[4].tolist() == [0.0] * 5
    assert compared.divergence.isnan().tolist() == [False, False, True, False, True]


def test_words_that_differ_are_marked_and_named_together() -> None:
    compared = of_pair("the cat walks", "the cat sleeps")
    assert compared.names == ("the", "cat", "walks / sleeps")
    assert compared.changed.tolist() == [False, False, True]
    assert compared.changed_words == ("walks", "sleeps")
    assert not compared.divergence.isnan().any()
