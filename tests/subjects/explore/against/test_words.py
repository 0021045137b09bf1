"""Two settings or two sentences side by side, and one setting swept: the numbers."""

from __future__ import annotations

import functools
import math
from typing import Any

import pytest
import torch
from torch import Tensor

from attention.analysis import comparison, sweeps
from attention.analysis.comparison import divergence_bits, divergence_terms
from attention.app.state import sides
from attention.core import masks
from attention.core.analysis import entropy_bits
from attention.core.functional import Trace, masked_softmax
from attention.core.settings import Value, settings_of
from attention.core.variants import VARIANTS
from attention.pipeline import Settings
from attention.subjects.explore.against import words as compare_words
from attention.subjects.explore.against.words import Comparison
from tests.cases import over
from tests.properties import given
from tests.properties import strategies as st
from tests.subjects.explore.how.making import result_of

DECLARED = functools.reduce(
    lambda declared, variant: declared | settings_of(variant.Config),
    VARIANTS.values(),
    settings_of(Settings),
)
rows = st.lists(st.floats(0, 1, width=32), min_size=5, max_size=5).filter(lambda row: sum(row) > 0)


def words(count: int) -> str:
    return " ".join(f"w{i}" for i in range(count))


def shares(weights: list[float]) -> Tensor:
    numbers = torch.tensor(weights, dtype=torch.float64)
    return numbers / numbers.sum()


def of_two(s: str = "a b c d e", /, **b: Any) -> Comparison:
    sides = result_of(s), result_of(s, **b)
    return compare_words.of_settings(sides[0].tokens, sides[0].trace, sides[1].trace)


def of_pair(first: str, second: str) -> Comparison:
    a, b = result_of(first), result_of(second)
    return compare_words.of_sentences(a.tokens, a.trace, b.tokens, b.trace)


def test_b_has_every_setting_of_a_under_its_name_but_what_both_share() -> None:
    theirs = sides.other_side(DECLARED)
    assert theirs.keys() == {f"b_{name}" for name in DECLARED if name not in sides.OF_BOTH}
    assert len({about.name for about in theirs.values()}) == len(theirs)
    for name, about in theirs.items():
        plain = DECLARED[name.removeprefix("b_")]
        told = ("label", "help", "minimum", "maximum", "step", "choices")
        assert [getattr(about, part) for part in told] == [getattr(plain, part) for part in told]
        assert about.problem(about.default) is None
        assert about.default == plain.default or name == "b_scale", "as the page opens"
        assert about.when is None or about.when[0] in {*theirs, *sides.OF_BOTH}
        assert about.divides in ("", "b_d_model", *theirs)


def test_what_differs_is_said_setting_by_setting() -> None:
    a: dict[str, Value] = {"s": "cat", "variant": "dot", "scale": "1/√d_k", "mask": ("causal",)}
    b: dict[str, Value] = {"variant": "gaussian", "scale": "factor", "mask": ("causal", "window")}
    assert compare_words.differences(a, b | {"factor": 0.35, "sigma": 2.0}, DECLARED) == [
        "variant: dot → gaussian",
        "scale: 1/√d_k → factor",
        "masks: causal → causal, window",
        "factor: — → 0.35",
        "σ: — → 2",
    ]
    masked = compare_words.differences({"mask": (), "d_k": 3}, {"mask": ("cells",)}, DECLARED)
    assert masked == ["masks: none → cells", "d_k: 3 → —"]
    assert compare_words.differences(a, a | {"s": "dog"}, DECLARED) == []
    (line,) = compare_words.differences({"cells": "0:1 " * 99}, {"cells": ""}, DECLARED)
    assert len(line) < 80


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


@over("count", [1, 24, 31])
def test_a_row_has_what_gained_first_and_what_lies_between_summed_up(count: int) -> None:
    compared, rest = of_two(words(count), scale="none"), ["7 between"] * (count > 24)
    names, columns, totals = compared.row_table(min(2, count - 1))
    assert (names[12:-12], len(names)) == (rest, min(count, 25))
    before, after, changes = ([*map(float, column)] for column in columns.values())
    assert changes == pytest.approx([b - a for a, b in zip(before, after, strict=True)], abs=1e-12)
    del changes[12:-12]
    assert changes == sorted(changes, reverse=True)
    assert [sum(before), sum(after)] == pytest.approx([1, 1], abs=1e-5)
    assert totals == ["sum", "1.00", "1.00", "0.00"]


# Rows of A and B, and the sentence; rows that are shares of 1 have a divergence.
ROWS: list[tuple[list[float], list[float], tuple[bool, bool], str]] = [
    (
        *([0.5, 0.5], [1.0, 0.0], (True, True)),
        "The attention of “a” is more focused in B, 1.00 → 0.00 bits, and the two rows differ by "
        "0.31 bits.",
    ),
    (
        *([0.0, 1.0], [0.5, 0.5], (True, True)),
        "The attention of “a” is more spread out in B, 0.00 → 1.00 bits, and the two rows differ "
        "by 0.31 bits.",
    ),
    (
        *([1.0, 0.0], [0.0, 1.0], (True, True)),
        "The attention of “a” is as spread out in B as in A, and the two rows differ by 1.00 bits.",
    ),
    (
        *([0.5, 0.5], [0.0, 0.0], (True, True)),
        "“a” may look at nothing in B, so there is nothing to compare.",
    ),
    (
        *([0.0, 0.0], [0.0, 0.0], (True, True)),
        "“a” may look at nothing in A and B, so there is nothing to compare.",
    ),
    (
        *([0.25, 0.25], [0.5, 0.5], (True, True)),
        "The row of “a” adds up to 0.50 in A and 1.00 in B: only shares of 1 have a divergence.",
    ),
    (
        *([0.5, -0.5], [0.5, 0.5], (False, True)),
        "The row of “a” adds up to 0.00 in A and 1.00 in B: only shares of 1 have a divergence.",
    ),
]


@over("case", ROWS)
def test_a_row_has_one_sentence(
    case: tuple[list[float], list[float], tuple[bool, bool], str],
) -> None:
    first, second, are_shares, sentence = case
    a, b = (torch.tensor([row, [0.5, 0.5]]) for row in (first, second))
    there = torch.ones(2, dtype=torch.bool)
    compared = Comparison(("a", "b"), a, b, ~there, ~there, there, there, ~there, are_shares)
    assert compared.row_words(0) == sentence
    assert bool(compared.divergence[0].isnan()) == ("differ" not in sentence)


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
    assert not compared.divergence.isnan().any()


def test_words_of_one_sentence_alone_have_no_numbers() -> None:
    compared = of_pair("a big cat", "a cat today")
    for row, word, side in ((1, "big", "first"), (3, "today", "second")):
        assert compared.row_words(row).startswith(f"“{word}” is only in the {side} sentence: there")
    names, columns, _ = compared.row_table(0)
    big = names.index("big")
    assert columns["weight B"][big] == columns["weight A"][names.index("today")] == "—"
    assert -float(columns["weight A"][big]) == columns["change"][big]


def swept(kind: str, at: float = 1.0, **settings: Any) -> tuple[Trace, sweeps.Sweep]:
    result = result_of(**settings)
    return result.trace, sweeps.sweep(result.trace, kind, at, result.masks)


SWEPT: list[dict[str, Any]] = [
    *({}, {"positions": "alibi"}, {"mask": ("causal", "length", "cells"), "cells": "1:0 4:*"}),
    {"variant": "grouped", "d_model": 8, "config": (("heads", 4), ("groups", 2))},
    {"variant": "talking", "d_model": 8, "config": (("heads", 4),), "mask": ("causal",)},
]


@over("settings", SWEPT)
def test_a_sweep_meets_the_settings_it_passes(settings: dict[str, Any]) -> None:
    result = result_of(**settings)
    meets = {"scale": result.trace.scale, "temperature": 1.0, "window": 4.0}
    kinds = sweeps.sweeps_of(result.trace)
    assert set(meets) - set(kinds) == ({"scale"} if "talking" in settings.values() else set())
    for kind in kinds:
        weights = sweeps.sweep(result.trace, kind, 1.0, result.masks).weights(meets[kind])
        torch.testing.assert_close(weights.float(), result.trace.weights)


def test_a_scale_leaves_the_bias_alone_and_a_temperature_divides_it_too() -> None:
    trace, scale = swept("scale", positions="alibi")
    _, temperature = swept("temperature", positions="alibi")
    for value in (0.0, 0.35):
        expected = masked_softmax(trace.scores.double() * value + trace.bias.double())
        torch.testing.assert_close(scale.weights(value), expected)
    expected = masked_softmax(trace.logits.double() / 0.35)
    torch.testing.assert_close(temperature.weights(0.35), expected)


def test_a_swept_window_stands_in_for_the_chosen_one_and_joins_the_other_masks() -> None:
    _, window = swept("window", mask=("causal", "window"), radius=1)
    for radius in range(5):
        seen = window.weights(float(radius)) > 0
        assert torch.equal(seen, masks.causal(5, 5) & masks.window(5, 5, radius))
    _, scale = swept("scale", mask=("causal", "window"), radius=1)
    assert torch.equal(scale.weights(1.0) > 0, masks.causal(5, 5) & masks.window(5, 5, 1))


@over("kind", sweeps.SWEEPS)
@over("n", [1, 2, 5, 64, 65, 512])
def test_a_sweep_stops_where_its_small_multiples_are(kind: str, n: int) -> None:
    values, shown = sweeps.sweep_values(kind, n), sweeps.multiples(kind, n)
    assert list(values) == sorted(set(values))
    assert len(shown) == len(set(shown)) <= sweeps.MAX_MULTIPLES
    assert all(sweeps.within(kind, value, n) == value for value in (*values, *shown))
    assert values[0] <= min(shown)
    assert max(shown) <= values[-1]
    assert all(round(value, 3) == value for value in values), "the link carries three decimals"


def test_a_sweep_that_is_not_there_is_refused() -> None:
    with pytest.raises(ValueError, match="kind must be one of scale, temperature, window, got"):
        swept("heads")
    with pytest.raises(ValueError, match="kind must be one of temperature, window, got 'scale'"):
        swept("scale", variant="talking", d_model=8)
