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
from attention.core.functional import Trace, attend, masked_softmax
from attention.core.settings import Value, settings_of
from attention.core.variants import VARIANTS
from attention.figures.tables import number
from attention.pipeline import Settings
from attention.subjects.compare import words as compare_words
from attention.subjects.compare.words import Comparison
from tests.cases import over
from tests.properties import given
from tests.properties import strategies as st
from tests.subjects.steps.making import result_of

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
def test_a_row_adds_up_to_its_divergence_and_what_lies_between_is_summed_up(count: int) -> None:
    compared, rest = of_two(words(count), scale="none"), ["7 between"] * (count > 24)
    row = min(2, count - 1)
    names, columns, totals = compared.row_table(row)
    assert (names[12:-12], len(names)) == (rest, min(count, 25))
    before, after, changes, _ = ([*map(float, column)] for column in columns.values())
    assert changes == pytest.approx([b - a for a, b in zip(before, after, strict=True)], abs=1e-12)
    del changes[12:-12]
    assert changes == sorted(changes, reverse=True)
    expected = {"weight A": 1.0, "weight B": 1.0, "change": 0.0}
    expected["divergence"] = float(compared.divergence[row])
    sums = {title: sum(map(float, column)) for title, column in columns.items()}
    assert sums == pytest.approx(expected, abs=1e-5)
    assert totals[:-1] == ["sum", "1.0000", "1.0000", "0.0000"]
    assert float(totals[-1]) == pytest.approx(expected["divergence"], abs=1e-4)


@over("count", [1, 32, 37])
def test_rows_come_by_divergence_the_rest_as_one_mean_and_words_hold_their_numbers(
    count: int,
) -> None:
    compared, rest = of_two(words(count), scale="none"), ["mean of 5 more"] * (count > 32)
    names, columns, means = compared.rows_table()
    assert names[32:] == rest
    for name, *cells in zip(names, *columns.values(), strict=True):
        bits, before, after, change = map(float, cells)
        assert change == pytest.approx(after - before, abs=1e-12)
        if name not in rest:
            told = compared.row_words(compared.names.index(name))
            assert all(number(cell) in told for cell in (bits, before, after))
    diverging = [*map(float, columns["divergence"])]
    assert diverging[:32] == sorted(diverging[:32], reverse=True)
    together = (sum(diverging[:32]) + sum(diverging[32:]) * (count - 32)) / count
    assert together == pytest.approx(float(compared.divergence.mean()), abs=1e-12)
    assert float(means[1]) == pytest.approx(together, abs=1e-4)


def test_rows_that_may_attend_to_nothing_have_no_divergence_and_the_words_say_why() -> None:
    compared = of_two(mask=("cells",), cells="1:*")
    assert compared.divergence.isnan().tolist() == [False, True, False, False, False]
    assert compared.row_words(1).startswith("“b” may look at nothing in B, so")
    _, columns, totals = compared.row_table(1)
    assert set(columns["divergence"]) == {"—"}
    assert totals == ["sum", "1.0000", "0.0000", "−1.0000", "—"]
    names, columns, _ = compared.rows_table()
    assert (names[-1], columns["entropy B"][-1], columns["change"][-1]) == ("b", "—", "—")

    result = result_of("a b", mask=("length",), valid_len=0)
    nothing = compare_words.of_settings(result.tokens, result.trace, result.trace)
    assert nothing.divergence.isnan().all()
    assert nothing.row_words(0).startswith("“a” may look at nothing in A and B, so")
    assert nothing.rows_table()[2] == ["mean of all", "—", "—", "—", "—"]


def test_rows_of_joined_words_that_sum_to_less_than_1_say_so() -> None:
    there = torch.ones(2, dtype=torch.bool)
    a, b = torch.tensor([[[0.5, 0.5], [0.25, 0.25]], [[1.0, 0.0], [0.5, 0.5]]])
    compared = Comparison(("a", "b"), a, b, ~there, ~there, there, there, ~there)
    assert compared.divergence.isnan().tolist() == [False, True]
    assert "adds up to 0.5000 in A and 1.0000 in B: only rows of sum 1" in compared.row_words(1)
    assert "A row that does not add up to 1 has none" in compared.rows_words


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
    words = compare_words.alignment_words(compared)
    assert words == "3 tokens are compared side by side; they differ in “walks / sleeps”."
    same = compare_words.alignment_words(of_pair("a cat", "a cat"))
    assert same.startswith("Both sentences have the same words")


def test_words_of_one_sentence_alone_are_counted_and_have_no_numbers() -> None:
    compared = of_pair("a big cat", "a cat today")
    words = compare_words.alignment_words(compared)
    assert words.startswith(
        "2 tokens are compared side by side; 1 is only in the first, hatched; 1"
    )
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


def test_the_words_tell_how_many_weights_a_small_dot_spans() -> None:
    for tokens, block in ((64, 1), (65, 2), (130, 3)):
        sweep = sweeps.sweep(attend(*torch.zeros(3, tokens, 2)), "window", 1.0, {})
        assert sweep.block == block
        assert (f"{block}² weights" in compare_words.sweep_words(sweep, 1.0)) == (block > 1)


def test_a_sweep_that_is_not_there_is_refused() -> None:
    with pytest.raises(ValueError, match="kind must be one of scale, temperature, window, got"):
        swept("heads")
    with pytest.raises(ValueError, match="kind must be one of temperature, window, got 'scale'"):
        swept("scale", variant="talking", d_model=8)
