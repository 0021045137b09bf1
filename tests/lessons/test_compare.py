"""Two settings or two sentences side by side, and one setting swept: the numbers."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.distributions import Categorical, kl_divergence

from attention.core import masks
from attention.core.analysis import entropy_bits
from attention.core.functional import Trace, masked_softmax
from attention.core.settings import complaint, settings_of
from attention.core.variants import VARIANTS
from attention.inputs.text import MAX_TOKENS
from attention.lessons import compare
from attention.lessons.compare import CompareSettings, Comparison, divergence_bits, divergence_terms
from attention.pipeline import Result, Settings, acceptable, compute, every_setting, link_problems
from tests.properties import given
from tests.properties import settings as hypothesis_settings
from tests.properties import strategies as st

PUBLISHED: dict[str, Any] = {
    "compare": "settings",
    "s2": "the cat sleeps on the street",
    "sweep": "scale",
    "sweep_at": 1.0,
}
PUBLISHED_OF_B: dict[str, Any] = {
    "b_variant": "dot",
    "b_vectors": "glove",
    "b_d_model": 50,
    "b_scale": "none",
    "b_factor": 1.0,
    "b_mask": "none",
    "b_valid_len": 3,
    "b_radius": 1,
    "b_cells": "",
    "b_positions": "none",
    "b_head": 0,
    "b_seed": 0,
    "b_parameters": "seeded",
    "b_heads": 5,
    "b_d_k": 50,
    "b_d_v": 50,
    "b_d_hidden": 16,
    "b_sigma": 1.0,
}

rows = st.lists(st.floats(0, 1, width=32), min_size=5, max_size=5).filter(lambda row: sum(row) > 0)


def row(*weights: float) -> Tensor:
    return torch.tensor(weights)


def shares(weights: list[float]) -> Tensor:
    numbers = torch.tensor(weights, dtype=torch.float64)
    return numbers / numbers.sum()


def viewed(**settings: Any) -> Result:
    return compute(
        Settings(**{"vectors": "random", "d_model": 7} | settings),
        lambda name: pytest.fail(f"asked for {name}"),
    )


def of_two(s: str = "a b c d e", /, **b: Any) -> Comparison:
    views = viewed(s=s), viewed(s=s, **b)
    return compare.of_settings(views[0].tokens, views[0].trace, views[1].trace)


def of_pair(first: str, second: str, **settings: Any) -> Comparison:
    a, b = viewed(s=first, **settings), viewed(s=second, **settings)
    return compare.of_sentences(a.tokens, a.trace, b.tokens, b.trace)


# Links already sent


def test_published_defaults_stay_since_links_leave_them_out() -> None:
    now = {name: default for name, (default, _) in settings_of(CompareSettings).items()}
    assert now == PUBLISHED
    of_b = {n: default for n, (default, _) in every_setting().items() if n.startswith("b_")}
    assert of_b == PUBLISHED_OF_B


def test_published_option_words_stay_since_links_carry_them() -> None:
    declared = settings_of(CompareSettings)
    options = {name: about.choices() for name, (_, about) in declared.items() if about.choices()}
    assert options == {
        "compare": ("settings", "sweep", "pair"),
        "sweep": ("scale", "temperature", "window"),
    }


def test_b_has_every_setting_of_a_under_its_name_but_the_sentence() -> None:
    ours = settings_of(Settings)
    for variant in VARIANTS.values():
        ours |= settings_of(variant.Config)
    theirs = compare.other_side(ours)
    assert theirs.keys() == {f"b_{name}" for name in ours if name != "s"}
    for name, (default, about) in theirs.items():
        _, plain = ours[name.removeprefix("b_")]
        assert (about.label, about.help, about.minimum, about.maximum, about.step) == (
            plain.label,
            plain.help,
            plain.minimum,
            plain.maximum,
            plain.step,
        )
        assert about.choices() == plain.choices()
        assert complaint(name, default, about, default) is None
        assert about.when == (plain.when and (f"b_{plain.when[0]}", plain.when[1]))
        assert about.divides == (plain.divides and f"b_{plain.divides}")


def test_b_differs_from_a_as_the_page_opens() -> None:
    plain = {name: default for name, (default, _) in settings_of(Settings).items()}
    differing = {n for n, v in PUBLISHED_OF_B.items() if plain.get(n[2:], v) != v}
    assert differing == {"b_scale"}


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"b_variant": "foo"}, "b_variant must be one of dot"),
        ({"b_scale": "2"}, "b_scale must be one of 1/√d_k, none, factor, got '2'; showing none"),
        ({"b_seed": "-1"}, "b_seed must lie between 0 and 9999, got -1; showing 0"),
        ({"b_factor": "nan"}, "b_factor must lie between 0.0 and 10.0, got nan; showing 1.0"),
        ({"b_s": "cat"}, "“b_s” is not a setting; it was left out."),
        ({"b_b_seed": "1"}, "“b_b_seed” is not a setting; it was left out."),
        ({"sweep_at": "inf"}, "sweep_at must lie between 0.0 and 512.0, got inf; showing 1.0"),
        ({"sweep": "heads"}, "sweep must be one of scale, temperature, window, got 'heads'"),
        ({"compare": ""}, "compare must be one of settings, sweep, pair, got ''"),
        ({"b_heads": "7"}, "b_heads must divide 50 dimensions, got 7."),
        (
            {"b_heads": "5", "b_vectors": "random", "b_d_model": "7"},
            "b_heads must divide 7 dimensions, got 5.",
        ),
    ],
)
def test_a_link_with_a_wrong_setting_of_b_is_told_so(asked: dict[str, str], words: str) -> None:
    (line,) = link_problems(asked)
    assert line.startswith(words)


@pytest.mark.parametrize("d_model", ["inf", "", "-3", "many", "1e9"])
@pytest.mark.parametrize("side", ["", "b_"])
def test_heads_are_judged_by_the_default_width_where_the_width_is_none(
    side: str, d_model: str
) -> None:
    asked = {f"{side}heads": "7", f"{side}vectors": "random", f"{side}d_model": d_model}
    assert f"{side}heads must divide 50 dimensions, got 7." in link_problems(asked)


def test_the_width_of_a_is_not_that_of_b() -> None:
    wide = {"vectors": "random", "d_model": "14"}
    assert link_problems(wide | {"heads": "7"}) == []
    assert link_problems(wide | {"b_heads": "7"}) != []


def test_what_b_may_carry_is_what_a_may() -> None:
    assert acceptable("b_mask", "causal")
    assert not acceptable("b_mask", "casual")
    assert not acceptable("b_s", "cat")


# Differences in words


def test_what_differs_is_said_setting_by_setting() -> None:
    declared = every_setting()
    a = {"s": "cat", "variant": "dot", "scale": "1/√d_k"}
    b = {"b_variant": "gaussian", "b_scale": "factor", "b_factor": 0.35, "b_sigma": 2.0}
    assert compare.differences(a, b, declared) == [
        "variant: dot → gaussian",
        "scale: 1/√d_k → factor",
        "factor: — → 0.35",
        "σ: — → 2",
    ]


def test_the_same_setting_differs_in_nothing() -> None:
    a = {"s": "cat", "variant": "dot", "factor": 1.0}
    assert compare.differences(a, {"b_variant": "dot", "b_factor": 1.0}, every_setting()) == []


def test_a_long_text_is_cut_where_it_is_said() -> None:
    (line,) = compare.differences({"cells": "0:1 " * 99}, {"b_cells": ""}, every_setting())
    assert len(line) < 80


# Divergence


def test_rows_that_share_no_key_diverge_by_one_bit() -> None:
    assert float(divergence_bits(row(1, 0, 0), row(0, 0.25, 0.75))) == 1.0


def test_equal_rows_do_not_diverge_at_all() -> None:
    weights = torch.rand(3, 5).softmax(-1)
    assert divergence_bits(weights, weights.clone()).tolist() == [0.0, 0.0, 0.0]


def test_divergence_as_worked_out_by_hand() -> None:
    # m = (0.75, 0.25): ½ log2(4/3) + ½ (½ log2(2/3) + ½ log2 2)
    by_hand = 0.5 * math.log2(4 / 3) + 0.25 * math.log2(2 / 3) + 0.25
    assert math.isclose(float(divergence_bits(row(1, 0), row(0.5, 0.5))), by_hand, abs_tol=1e-12)


def test_divergence_is_that_of_both_from_their_mean() -> None:
    p, q = torch.rand(2, 3, 7, dtype=torch.float64).softmax(-1)
    middle = Categorical(probs=(p + q) / 2)
    halves = [kl_divergence(Categorical(probs=one), middle) for one in (p, q)]
    torch.testing.assert_close(divergence_bits(p, q), sum(halves) / 2 / math.log(2))


def test_a_row_without_weights_diverges_from_none_but_its_like() -> None:
    nothing, some = row(0, 0, 0), row(0, 1, 0)
    assert math.isnan(divergence_bits(nothing, some))
    assert math.isnan(divergence_bits(some, nothing))
    assert float(divergence_bits(nothing, nothing)) == 0.0


@given(p=rows, q=rows)
@hypothesis_settings(deadline=None)
def test_divergence_is_symmetric_lies_within_a_bit_and_is_the_sum_of_its_terms(
    p: list[float], q: list[float]
) -> None:
    left, right = shares(p), shares(q)
    there, back = float(divergence_bits(left, right)), float(divergence_bits(right, left))
    assert 0 <= there <= 1
    assert math.isclose(there, back, abs_tol=1e-12)
    terms = divergence_terms(left, right)
    assert (terms >= 0).all()
    assert math.isclose(float(terms.sum()), there, abs_tol=1e-12)
    mean = (left + right) / 2
    gain = entropy_bits(mean) - (entropy_bits(left) + entropy_bits(right)) / 2
    assert math.isclose(float(gain), there, abs_tol=1e-9)


@given(p=rows)
@hypothesis_settings(deadline=None)
def test_no_row_diverges_from_itself(p: list[float]) -> None:
    assert float(divergence_bits(shares(p), shares(p))) == 0.0


# Two settings


def test_both_sides_are_the_weights_of_their_settings() -> None:
    compared = of_two(scale="none", mask="causal")
    assert torch.equal(compared.a, viewed(s="a b c d e").trace.weights)
    assert torch.equal(compared.b, viewed(s="a b c d e", scale="none", mask="causal").trace.weights)
    assert torch.equal(compared.hidden_b, ~masks.causal(5, 5))
    assert not compared.hidden_a.any()


def test_the_same_setting_on_both_sides_differs_nowhere() -> None:
    compared = of_two()
    assert torch.equal(compared.a, compared.b)
    assert compared.divergence.tolist() == [0.0] * 5


def test_entropy_changes_by_what_its_columns_differ_by() -> None:
    names, columns, means = of_two(scale="none").rows_table()
    assert sorted(names) == list("abcde")
    for before, after, change in zip(
        columns["entropy A"], columns["entropy B"], columns["change"], strict=True
    ):
        assert isinstance(before, float)
        assert isinstance(after, float)
        assert change == pytest.approx(after - before, abs=1e-12)
    shown = [float(number) for number in columns["divergence"]]
    assert shown == sorted(shown, reverse=True)
    assert means[1] == f"{sum(shown) / 5:.4f}"


def test_a_row_adds_up_to_its_divergence() -> None:
    compared = of_two(scale="none")
    names, columns, totals = compared.row_table(3)
    assert sorted(names) == list("abcde")
    changes = [float(number) for number in columns["change"]]
    assert changes == sorted(changes, reverse=True)
    for a, b, change in zip(columns["weight A"], columns["weight B"], changes, strict=True):
        assert float(b) - float(a) == pytest.approx(change, abs=1e-12)
    added = sum(float(number) for number in columns["divergence"])
    assert added == pytest.approx(float(compared.divergence[3]), abs=1e-12)
    assert totals == ["sum", "1.0000", "1.0000", "0.0000", f"{added:.4f}"]


def test_of_many_keys_those_in_between_are_summed_up() -> None:
    compared = of_two(" ".join(f"w{i}" for i in range(31)), scale="none")
    names, columns, _ = compared.row_table(2)
    assert names[12] == "7 between"
    assert len(names) == len(columns["change"]) == 25
    for title in ("weight A", "weight B"):
        assert sum(float(x) for x in columns[title]) == pytest.approx(1, abs=1e-5)
    assert sum(float(x) for x in columns["divergence"]) == pytest.approx(
        float(compared.divergence[2]), abs=1e-12
    )


def test_of_many_rows_the_rest_is_one_mean() -> None:
    compared = of_two(" ".join(f"w{i}" for i in range(37)), scale="none")
    names, columns, means = compared.rows_table()
    assert names[-1] == "mean of 5 more"
    shown = [float(number) for number in columns["divergence"]]
    together = (sum(shown[:-1]) + 5 * shown[-1]) / 37
    assert means[1] == f"{together:.4f}"
    assert together == pytest.approx(float(compared.divergence.mean()), abs=1e-12)


def test_rows_that_may_attend_to_nothing_have_no_divergence_and_the_words_say_why() -> None:
    compared = of_two(mask="custom", cells="1:*")
    assert compared.divergence.isnan().tolist() == [False, True, False, False, False]
    assert compared.row_words(1) == (
        "“b” may attend to nothing in B. Without weights there is no divergence."
    )
    _, columns, totals = compared.row_table(1)
    assert set(columns["divergence"]) == {"—"}
    assert totals == ["sum", "1.0000", "0.0000", "−1.0000", "—"]
    names, columns, _ = compared.rows_table()
    assert (names[-1], columns["entropy B"][-1], columns["change"][-1]) == ("b", "—", "—")


def test_rows_that_may_attend_to_nothing_on_both_sides_are_said_to() -> None:
    view = viewed(s="a b", mask="length", valid_len=0)
    compared = compare.of_settings(view.tokens, view.trace, view.trace)
    assert compared.divergence.tolist() == [0.0, 0.0]
    assert compared.row_words(0) == "“a” may attend to nothing in A and B."
    assert compared.rows_table()[2] == ["mean of all", "0.0000", "—", "—", "—"]


def test_the_words_on_a_row_hold_the_numbers_of_the_tables() -> None:
    compared = of_two(scale="none")
    words = compared.row_words(2)
    names, columns, _ = compared.rows_table()
    place = names.index("c")
    for title in ("divergence", "entropy A", "entropy B", "change"):
        assert f"{float(columns[title][place]):.4f}".replace("-", "−") in words


def test_one_token_differs_from_itself_in_nothing() -> None:
    compared = of_two("a", scale="none")
    assert compared.row_table(0)[1]["change"] == [0.0]
    assert compared.rows_table()[2] == ["mean of all", "0.0000", "0.0000", "0.0000", "0.0000"]


# Two sentences


@pytest.mark.parametrize(
    ("first", "second", "slots"),
    [
        ("a b c", "a x c", ((0, 0), (1, 1), (2, 2))),
        ("a b c", "a c", ((0, 0), (1, None), (2, 1))),
        ("a c", "a b c", ((0, 0), (None, 1), (1, 2))),
        ("a b c d", "a x d", ((0, 0), (1, 1), (2, None), (3, 2))),
        ("a", "x y", ((0, 0), (None, 1))),
        ("a a", "a a a", ((0, 0), (1, 1), (None, 2))),
    ],
)
def test_sentences_are_laid_side_by_side(first: str, second: str, slots: Any) -> None:
    assert compare.align(tuple(first.split()), tuple(second.split())) == slots


words = st.lists(st.sampled_from("abcd"), min_size=1, max_size=11)


@given(first=words, second=words)
@hypothesis_settings(deadline=None)
def test_every_token_stands_in_exactly_one_slot_and_in_order(
    first: list[str], second: list[str]
) -> None:
    slots = compare.align(tuple(first), tuple(second))
    assert [i for i, _ in slots if i is not None] == list(range(len(first)))
    assert [j for _, j in slots if j is not None] == list(range(len(second)))
    assert (None, None) not in slots


@given(words=words)
@hypothesis_settings(deadline=None)
def test_a_sentence_beside_itself_is_aligned_token_by_token(words: list[str]) -> None:
    slots = compare.align(tuple(words), tuple(words))
    assert slots == tuple((place, place) for place in range(len(words)))


def test_a_pair_has_each_sentences_own_weights_in_its_slots() -> None:
    compared = of_pair("the cat walks home", "the cat home today")
    assert compared.names == ("the", "cat", "walks", "home", "today")
    assert compared.in_a.tolist() == [True, True, True, True, False]
    assert compared.in_b.tolist() == [True, True, False, True, True]
    first = viewed(s="the cat walks home").trace.weights
    second = viewed(s="the cat home today").trace.weights
    assert torch.equal(compared.a[:4, :4], first)
    assert torch.equal(compared.b[compared.in_b][:, compared.in_b], second)
    assert compared.a[:, 4].tolist() == compared.a[4].tolist() == [0.0] * 5
    assert compared.divergence.isnan().tolist() == [False, False, True, False, True]


def test_words_that_differ_are_marked_and_named_together() -> None:
    compared = of_pair("the cat walks", "the cat sleeps")
    assert compared.names == ("the", "cat", "walks / sleeps")
    assert compared.changed.tolist() == [False, False, True]
    assert not compared.divergence.isnan().any()
    assert compare.alignment_words(compared) == (
        "Token by token: 3 stand side by side, differing in “walks / sleeps”."
    )


def test_words_of_one_sentence_alone_are_counted_and_have_no_numbers() -> None:
    compared = of_pair("a big cat", "a cat today")
    assert compare.alignment_words(compared) == (
        "Token by token: 2 stand side by side, 1 in the first alone, hatched; "
        "1 in the second alone, hatched."
    )
    assert compared.row_words(1) == "“big” stands in the first sentence alone: nothing to compare."
    assert compared.row_words(3) == (
        "“today” stands in the second sentence alone: nothing to compare."
    )
    names, columns, _ = compared.row_table(0)
    assert columns["weight B"][names.index("big")] == "—"
    assert columns["weight A"][names.index("today")] == "—"
    assert -float(columns["weight A"][names.index("big")]) == columns["change"][names.index("big")]


def test_the_same_sentence_twice_is_said_to_be_the_same() -> None:
    compared = of_pair("a cat", "a cat")
    assert compare.alignment_words(compared).startswith("Both sentences have the same words")


def test_512_words_beside_512_others_are_aligned() -> None:
    first = tuple(f"{i % 7}" for i in range(MAX_TOKENS))
    second = tuple(f"{i % 11}" for i in range(MAX_TOKENS))
    slots = compare.align(first, second)
    assert len([i for i, _ in slots if i is not None]) == MAX_TOKENS


# Sweeps


def traced(**settings: Any) -> Trace:
    return viewed(**{"s": "a b c d e"} | settings).trace


@pytest.mark.parametrize("settings", [{}, {"mask": "causal"}, {"positions": "alibi"}], ids=str)
def test_a_sweep_meets_the_settings_it_passes(settings: dict[str, str]) -> None:
    trace = traced(**settings)
    scale = compare.sweep(trace, "scale", 1.0, trace.mask)
    torch.testing.assert_close(scale.weights(trace.scale).float(), trace.weights)
    temperature = compare.sweep(trace, "temperature", 1.0, trace.mask)
    torch.testing.assert_close(temperature.weights(1.0).float(), trace.weights)
    window = compare.sweep(trace, "window", 1.0, trace.mask)
    torch.testing.assert_close(window.weights(4.0).float(), trace.weights)


def test_a_sweep_of_the_scale_leaves_the_bias_alone() -> None:
    trace = traced(positions="alibi")
    assert trace.bias is not None
    swept = compare.sweep(trace, "scale", 1.0, None)
    expected = masked_softmax(trace.scores.double() * 0.35 + trace.bias.double())
    torch.testing.assert_close(swept.weights(0.35), expected)
    torch.testing.assert_close(swept.weights(0.0), masked_softmax(trace.bias.double()))


def test_scale_0_makes_all_keys_alike() -> None:
    swept = compare.sweep(traced(), "scale", 0.0, None)
    torch.testing.assert_close(swept.weights(0.0), torch.full((5, 5), 0.2, dtype=torch.float64))


def test_a_window_of_no_radius_leaves_a_query_alone() -> None:
    swept = compare.sweep(traced(), "window", 0.0, None)
    assert torch.equal(swept.weights(0.0), torch.eye(5, dtype=torch.float64))


@pytest.mark.parametrize("low", [0.05, 0.5, 2.0])
def test_a_higher_temperature_makes_no_row_surer(low: float) -> None:
    swept = compare.sweep(traced(scale="none"), "temperature", 1.0, None)
    cold, warm = (entropy_bits(swept.weights(value)) for value in (low, 2 * low))
    assert (warm >= cold - 1e-9).all()


@pytest.mark.parametrize("kind", compare.SWEEPS)
@pytest.mark.parametrize("n", [1, 2, 5, 64, 65, 512])
def test_a_sweep_stops_where_its_small_multiples_are(kind: str, n: int) -> None:
    values, shown = compare.sweep_values(kind, n), compare.multiples(kind, n)
    assert list(values) == sorted(set(values))
    assert len(shown) == len(set(shown)) <= compare.MAX_MULTIPLES
    assert all(compare.within(kind, value, n) == value for value in (*values, *shown))
    assert values[0] <= min(shown)
    assert max(shown) <= values[-1]
    assert all(round(value, 3) == value for value in values), "the link carries three decimals"


@pytest.mark.parametrize(
    ("kind", "asked", "shown"),
    [
        ("scale", 512.0, 10.0),
        ("scale", 0.0, 0.0),
        ("temperature", 0.0, 0.05),
        ("temperature", 400.0, 20.0),
        ("window", 1.4, 1.0),
        ("window", 512.0, 4.0),
    ],
)
def test_a_value_beyond_the_sweep_becomes_its_end_and_the_words_say_so(
    kind: str, asked: float, shown: float
) -> None:
    swept = compare.sweep(traced(), kind, asked, None)
    assert swept.at == shown
    said = f"There is no {kind} {asked:g} here; showing {shown:g}."
    assert (said in compare.sweep_words(swept, asked)) == (asked != shown)


@pytest.mark.parametrize("kind", compare.SWEEPS)
def test_small_multiples_are_the_weights_in_255_steps(kind: str) -> None:
    swept = compare.sweep(traced(mask="causal"), kind, 1.0, masks.causal(5, 5))
    assert swept.block == 1
    for value, dots in zip(swept.shown, swept.dots, strict=True):
        assert (dots.double() / 255 - swept.weights(value)).abs().max() <= 0.5 / 255 + 1e-9


def test_small_multiples_of_long_sentences_keep_the_greatest_of_each_block() -> None:
    trace = traced(s=" ".join(f"w{i}" for i in range(131)))
    swept = compare.sweep(trace, "window", 1.0, None)
    assert (swept.block, tuple(swept.dots.shape[1:])) == (3, (44, 44))
    assert (swept.dots[0].diagonal() == 255).all()
    assert "3² weights" in compare.sweep_words(swept, 1.0)


def test_an_unknown_sweep_is_refused() -> None:
    with pytest.raises(ValueError, match="kind must be one of scale, temperature, window"):
        compare.sweep(traced(), "heads", 1.0, None)
