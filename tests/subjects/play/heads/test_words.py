"""Heads of a layer: worked out with a pencil, and as laws that hold for any weights."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor

from attention.analysis import additions
from attention.analysis import heads as analysed
from attention.core import masks
from attention.core.functional import Trace
from attention.core.settings import settings_of
from attention.core.variants import VARIANTS, Variant
from attention.subjects.play.heads import words as heads_words
from tests.cases import over
from tests.properties import given, strategies
from tests.properties import settings as given_settings
from tests.subjects.play.how.making import HEADS, drawn, layer_of, shown

TOKENS, D_MODEL, QUERY = 7, 12, 4
WITH_HEADS = [name for name in VARIANTS if "heads" in settings_of(VARIANTS[name].Config)]
CAUSAL = masks.causal(TOKENS, TOKENS)
SEEDS = strategies.integers(0, 9999)


def rows(*shape: int, seed: int = 0) -> Tensor:
    """Weights of some rows, far from even."""
    return (3 * drawn(*shape, seed=seed)).softmax(-1)


def run(
    name: str = "multihead", mask: Tensor | None = None, *, tokens: int = TOKENS, **more: Any
) -> tuple[Variant, Trace]:
    layer = layer_of(name, D_MODEL)
    with torch.no_grad():
        trace: Trace = layer(drawn(tokens, D_MODEL, seed=1), mask, **more)
    return layer, trace


def test_every_measure_is_an_average_over_rows_and_keys():
    weights = rows(2, 5, 7)
    offset = torch.arange(7) - torch.arange(5)[:, None]
    terms = {"entropy": -weights.log2(), "distance": offset.abs()}
    terms |= {"previous": offset == -1, "itself": offset == 0, "next": offset == 1}
    terms["first"] = torch.arange(7) == 0
    measured = analysed.measures(weights)
    for name, each in terms.items():
        expected = (weights * each).sum((1, 2)) / 5
        torch.testing.assert_close(measured[name], expected, atol=1e-5, rtol=0)


def test_over_another_sequence_positions_are_not_compared():
    weights, known = rows(2, 5, 5), analysed.Keys([True, False, False, False, True], "abcab")
    within, across = (analysed.measures(weights, known, crosses) for crosses in (False, True))
    assert list(within) == [*analysed.MEASURES]
    assert list(across) == [*(name for name, one in analysed.MEASURES.items() if not one.compares)]
    assert {"entropy", "first", "special"} <= across.keys()
    assert all(torch.equal(across[name], within[name]) for name in across)
    seen = analysed.overview_of(weights, known, crosses=True)
    assert list(seen.measures) == list(across)
    assert analysed.order(seen.measures, "previous") == [0, 1]


def test_induction_is_the_weight_on_the_token_that_followed_one_like_the_query():
    weights = rows(3, 5, 5)
    measured = analysed.measures(weights, analysed.Keys(ids="abcab"))["induction"]
    # "a" at 3 came before at 0, where "b" followed; "b" at 4 at 1, where "c" followed.
    torch.testing.assert_close(measured, (weights[:, 3, 1] + weights[:, 4, 2]) / 2)
    thrice = analysed.measures(weights, analysed.Keys(ids="aabca"))["induction"]
    torch.testing.assert_close(thrice, (weights[:, 1, 1] + weights[:, 4, [1, 2]].sum(-1)) / 2)
    assert "induction" not in analysed.measures(weights, analysed.Keys(ids="abcde"))


def test_rows_with_nothing_to_attend_to_count_for_nothing():
    weights = rows(1, 3, 3)
    weights[0, 1] = 0
    same = float(analysed.measures(weights)["itself"][0])
    assert same == pytest.approx(float(weights[0, 0, 0] + weights[0, 2, 2]) / 2)
    nothing = analysed.measures(torch.zeros(2, 3, 3))
    assert {tuple(numbers.tolist()) for numbers in nothing.values()} == {(0.0, 0.0)}


@given_settings(max_examples=60)
@given(strategies.floats(0.0, 1.0), SEEDS)
def test_edges_cover_the_share_and_one_fewer_would_not(share, seed):
    weights = rows(2, 5, 11, seed=seed).double()
    kept = analysed.strongest_edges(weights, share)
    held = (weights * kept).sum(-1)
    assert (held >= share - 1e-6).all()
    assert kept.any(-1).all()
    weakest = weights.masked_fill(~kept, math.inf).amin(-1)
    several = kept.sum(-1) > 1
    assert ((held - weakest)[several] < share + 1e-6).all()
    assert (weights.masked_fill(kept, 0).amax(-1) <= weakest).all()
    for beyond in (-0.1 - share, 1.1 + share, math.nan):
        with pytest.raises(ValueError, match="share must lie in"):
            analysed.strongest_edges(weights, beyond)


ACTIVE = {"": [], " 3 , , 1 1": [1, 3], "7": [], "²": [], "1,7,9": [1], "<b>": []}


def test_marked_heads_are_read_as_far_as_they_are_there():
    assert {text: heads_words.read_active(text, 5) for text in ACTIVE} == ACTIVE
    assert heads_words.read_active(heads_words.write_active([4, 0, 4]), 5) == [0, 4]


def test_thumbnails_are_small_whatever_the_sentence_and_each_head_has_its_own_scale():
    sizes = ((2, 7, 1, 7), (12, 96, 1, 96), (12, 97, 2, 49), (12, 512, 6, 86), (50, 512, 11, 47))
    for count, tokens, block, side in sizes:
        seen = analysed.overview_of(torch.zeros(count, tokens, tokens))
        assert (seen.block, seen.dots.dtype) == (block, torch.uint8)
        assert seen.dots.shape == (count, side, side)
        assert not seen.dots.any(), "heads that see nothing are blank"
    weights = torch.full((2, 101, 101), 1e-4)
    weights[0, 17, 93], weights[1, 100, 3] = 0.9, 0.01
    seen = analysed.overview_of(weights)
    assert (seen.block, int(seen.dots[0, 8, 46]), int(seen.dots[1, 50, 1])) == (2, 255, 255)


@over("name", [*WITH_HEADS, "biased"])
@over("mask", [None, CAUSAL])
def test_what_the_heads_add_and_the_bias_come_to_the_output(name, mask):
    layer, trace = run(name, mask)
    made = additions.additions(layer, trace, QUERY)
    W, bias = (None if part is None else part.detach() for part in layer.projection("output"))
    for head, part in enumerate(made.parts[:HEADS]):
        alone = trace.applied[head, QUERY] @ trace.values[head] @ W.unflatten(0, (HEADS, -1))[head]
        torch.testing.assert_close(part, alone)
    assert len(made.parts) == HEADS + (bias is not None)
    assert bias is None or torch.equal(made.parts[HEADS], bias)
    torch.testing.assert_close(made.parts.sum(0), made.output)
    with torch.no_grad():
        torch.testing.assert_close(made.output, layer.output(trace)[QUERY])
    names, columns, total = heads_words.additions_table(made)
    assert names == [f"head {head}" for head in range(HEADS)] + ["bias"] * (bias is not None)
    length = float(made.output.norm())
    along = made.parts @ made.output / length
    shares = [shown(str(cell).removesuffix(" %")) for cell in columns["share of y"]]
    assert columns["length"] == pytest.approx(made.parts.norm(dim=-1).tolist())
    assert shares == pytest.approx((100 * along / length).tolist(), abs=0.06)
    assert total == ["y", f"{length:.2f}", "100.0 %"]


def test_a_token_that_sees_nothing_has_no_edges_and_is_added_nothing():
    layer, trace = run(mask=masks.parse_cells("2:*", TOKENS, TOKENS))
    assert not analysed.strongest_edges(trace.weights, 0.9)[:, 2].any()
    _, columns, total = heads_words.additions_table(additions.additions(layer, trace, 2))
    assert set(columns["share of y"]) == {"0.0 %"}
    assert total == ["y", "0.00", "0.0 %"]


def test_rows_that_come_in_blocks_are_measured_as_all_at_once():
    weights = rows(2, 101, 103)
    parts = [(part, weights[:, part]) for part in torch.arange(101).split(13)]
    one, whole = analysed.overview_of_rows(parts, weights.shape), analysed.overview_of(weights)
    assert one.rows == (101, 101)
    assert torch.equal(one.dots, whole.dots)
    torch.testing.assert_close(one.measures, whole.measures)
    _, errors = analysed.measures_of_rows(parts, weights.shape)
    assert not any(each.any() for each in errors.values())


def test_a_sample_has_the_error_that_a_pencil_gives():
    weights = torch.zeros(1, 7, 7)
    weights[0, [0, 2, 4], [0, 2, 1]] = 1  # of the rows 0, 2 and 4 two look at themselves
    some = torch.tensor([0, 2, 4])
    means, errors = analysed.measures_of_rows([(some, weights[:, some])], weights.shape)
    assert float(means["itself"]) == pytest.approx(2 / 3)
    # s² = 1/3 of the numbers 1, 1 and 0; of 3 of 7 rows: √(1/3 / 3 · 4/7)
    assert float(errors["itself"]) == pytest.approx(math.sqrt(4 / 63))
    assert analysed.overview_of_rows([(some, weights[:, some])], weights.shape).rows == (3, 7)
