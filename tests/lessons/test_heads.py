"""What the heads of a layer do: by hand, and as laws that hold for any weights."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor

from attention.core import functional, masks
from attention.core.variants import MultiHeadAttention
from attention.lessons import heads
from attention.lessons.heads import Heads
from tests.properties import given, strategies
from tests.properties import settings as given_settings

HEADS, TOKENS, D_MODEL = 3, 7, 15
SHARES = strategies.floats(0.0, 1.0)
SEEDS = strategies.integers(0, 9999)


def rows(*shape: int, seed: int = 0) -> Tensor:
    """Weights of some rows, far from even."""
    generator = torch.Generator().manual_seed(seed)
    return (3 * torch.randn(*shape, generator=generator)).softmax(-1)


def looked(mask: Tensor | None = None, **more: Any) -> tuple[MultiHeadAttention, Tensor, Heads]:
    layer = MultiHeadAttention(MultiHeadAttention.Config(D_MODEL, heads=HEADS, seed=5))
    x = torch.randn(TOKENS, D_MODEL, generator=torch.Generator().manual_seed(1))
    return layer, x, heads.look(layer, x, mask, **more)


# Measures


def test_a_head_that_looks_one_back_is_the_previous_token_head() -> None:
    back = torch.eye(5).roll(-1, 1)
    back[0] = torch.tensor([1.0, 0, 0, 0, 0])
    back[1:] = torch.eye(5)[:4]
    even = torch.full((5, 5), 0.2)
    measured = heads.measures(torch.stack([even, back]))
    assert measured["previous"].tolist() == pytest.approx([0.2 * 4 / 5, 4 / 5])
    assert measured["same"].tolist() == pytest.approx([0.2, 1 / 5])
    assert measured["next"].tolist() == pytest.approx([0.2 * 4 / 5, 0])
    assert measured["first"].tolist() == pytest.approx([0.2, 2 / 5])
    assert measured["entropy"].tolist() == pytest.approx([math.log2(5), 0])
    assert measured["distance"].tolist() == pytest.approx([(0 + 8 + 12 + 12 + 8) / 25, 4 / 5])
    assert heads.order(measured, "previous") == [1, 0]
    assert heads.order(measured, "entropy") == [0, 1]
    assert heads.order(measured, "head") == [0, 1]


def test_every_measure_is_an_average_over_rows_and_keys() -> None:
    weights = rows(HEADS, 5, 7)
    measured = heads.measures(weights)
    for head in range(HEADS):
        sums = dict.fromkeys(heads.MEASURES, 0.0)
        for query in range(5):
            for key in range(7):
                weight = float(weights[head, query, key])
                sums["entropy"] -= weight * math.log2(weight)
                sums["distance"] += weight * abs(key - query)
                sums["previous"] += weight * (key == query - 1)
                sums["same"] += weight * (key == query)
                sums["next"] += weight * (key == query + 1)
                sums["first"] += weight * (key == 0)
        for name, total in sums.items():
            assert float(measured[name][head]) == pytest.approx(total / 5, abs=1e-5), name


def test_rows_with_nothing_to_attend_to_count_for_nothing() -> None:
    weights = rows(1, 3, 3)
    weights[0, 1] = 0
    measured = heads.measures(weights)
    assert float(measured["same"][0]) == pytest.approx(
        float(weights[0, 0, 0] + weights[0, 2, 2]) / 2
    )
    nothing = heads.measures(torch.zeros(2, 3, 3))
    assert list(nothing) == list(heads.MEASURES)
    assert all(numbers.tolist() == [0.0, 0.0] for numbers in nothing.values())


def test_one_token_has_neither_a_previous_nor_a_next_one() -> None:
    measured = heads.measures(torch.ones(2, 1, 1))
    assert measured["previous"].tolist() == measured["next"].tolist() == [0, 0]
    assert measured["same"].tolist() == measured["first"].tolist() == [1, 1]


def test_an_even_spread_is_over_the_keys_that_may_be_seen() -> None:
    _, _, found = looked(masks.causal(TOKENS, TOKENS))
    harmonic = sum(1 / (query + 1) for query in range(TOKENS)) / TOKENS
    assert found.even["same"] == pytest.approx(harmonic)
    assert found.even["first"] == pytest.approx(harmonic)
    assert found.even["previous"] == pytest.approx(harmonic - 1 / TOKENS)
    assert found.even["next"] == 0
    bits = sum(math.log2(query + 1) for query in range(TOKENS)) / TOKENS
    assert found.even["entropy"] == pytest.approx(bits, abs=1e-5)


def test_the_table_has_a_row_a_head_sorted_with_the_even_spread_last() -> None:
    _, _, found = looked()
    names, columns, last = heads.measure_table(found, "distance")
    assert sorted(names) == ["head 0", "head 1", "head 2"]
    assert list(columns) == list(heads.MEASURES)
    assert columns["distance"] == sorted(columns["distance"], reverse=True)
    best = int(found.measured["distance"].argmax())
    assert names[0] == f"head {best}"
    assert last[0] == "even spread"
    assert len(last) == 1 + len(columns)


def test_the_sentence_names_the_head_with_the_greatest_share_on_the_previous_token() -> None:
    _, _, found = looked()
    shares = found.measured["previous"]
    words = heads.previous_token_head(found)
    share = f"{100 * float(shares.max()):.1f} %"
    assert f"head {int(shares.argmax())}: on average {share} of" in words
    assert "put 12.2 % there" in words  # 6 of 7 queries have a previous one, and 7 keys to see
    _, _, blind = looked(torch.eye(TOKENS, dtype=torch.bool))
    assert heads.previous_token_head(blind).startswith("No head puts any weight")


# Edges


def test_the_fewest_keys_that_cover_the_share_are_drawn() -> None:
    weights = torch.tensor([[0.5, 0.3, 0.1, 0.1], [0.1, 0.1, 0.1, 0.7], [0.0, 0.0, 0.0, 0.0]])
    drawn = {share: heads.strongest_edges(weights, share).int().tolist() for share in (0.5, 0.8, 1)}
    assert drawn[0.5] == [[1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 0, 0]]
    assert drawn[0.8] == [[1, 1, 0, 0], [1, 0, 0, 1], [0, 0, 0, 0]]
    assert drawn[1] == [[1, 1, 1, 1], [1, 1, 1, 1], [0, 0, 0, 0]]


@pytest.mark.parametrize("share", [-0.1, 1.1, math.nan])
def test_a_share_beyond_0_and_1_is_refused(share: float) -> None:
    with pytest.raises(ValueError, match="share must lie in"):
        heads.strongest_edges(rows(3, 5), share)


@given_settings(deadline=None, max_examples=60)
@given(SHARES, SEEDS)
def test_edges_cover_the_share_and_one_fewer_would_not(share: float, seed: int) -> None:
    weights = rows(2, 5, 11, seed=seed).double()
    kept = heads.strongest_edges(weights, share)
    held = (weights * kept).sum(-1)
    assert (held >= share - 1e-6).all()
    assert kept.any(-1).all()
    weakest = weights.masked_fill(~kept, math.inf).amin(-1)
    several = kept.sum(-1) > 1
    assert ((held - weakest)[several] < share + 1e-6).all()
    assert (weights.masked_fill(kept, 0).amax(-1) <= weakest).all()


def test_edges_keep_their_weights_and_say_how_much_they_hold() -> None:
    weights = rows(HEADS, TOKENS, TOKENS)
    found = heads.edges(weights, 4, [0, 2], 0.8)
    kept = found.weights > 0
    assert torch.equal(found.weights[kept], weights[kept])
    assert found.drawn == int(kept[[0, 2], 4].sum())
    assert found.all == 2 * TOKENS
    assert found.covered == pytest.approx(float(found.weights[[0, 2], 4].sum(-1).min()), abs=1e-6)
    assert 0.8 <= found.covered < 1
    assert f"{found.drawn} of 14 edges" in found.words
    assert "Nothing is renormalised" in found.words
    assert "all 14 edges, which hold all of" in heads.edges(weights, 4, [0, 2], 1.0).words


def test_of_many_weights_only_the_chosen_row_is_drawn() -> None:
    weights = rows(5, 256, 256)
    found = heads.edges(weights, 77, range(5), 1.0)
    assert torch.equal(found.weights, weights[:, 77:78])
    assert heads.edges(weights[:1], 77, [0], 1.0).weights.shape == (1, 256, 256)


def test_a_row_with_nothing_to_attend_to_has_no_edges_and_says_so() -> None:
    found = heads.edges(torch.zeros(2, 3, 3), 1, [0, 1], 0.9)
    assert (found.drawn, found.all, found.covered) == (0, 0, 0.0)
    assert "may attend to nothing" in found.words


# Which heads


@pytest.mark.parametrize(
    ("text", "active"),
    [
        ("", [0, 1, 2, 3, 4]),
        ("0,2,3", [0, 2, 3]),
        (" 3 , 1 1", [1, 3]),
        ("0 , , 4", [0, 4]),
    ],
)
def test_active_heads_are_read_from_numbers(text: str, active: list[int]) -> None:
    assert heads.read_active(text, 5) == (active, "")


@pytest.mark.parametrize(
    ("text", "active", "words"),
    [
        ("7", [0, 1, 2, 3, 4], "There is no head 7 of 5."),
        ("1,7,9", [1], "There is no head 7, 9 of 5."),
        ("<b>", [0, 1, 2, 3, 4], "got '<b>'"),
        ("-1", [0, 1, 2, 3, 4], "got '-1'"),
        ("²", [0, 1, 2, 3, 4], "got '²'"),
        ("1e3", [0, 1, 2, 3, 4], "got '1e3'"),
    ],
)
def test_what_is_no_head_is_said(text: str, active: list[int], words: str) -> None:
    found, said = heads.read_active(text, 5)
    assert found == active
    assert words in said


@given_settings(deadline=None, max_examples=60)
@given(strategies.sets(strategies.integers(0, 49), min_size=1), strategies.integers(50, 60))
def test_written_active_heads_are_read_as_they_were(active: set[int], count: int) -> None:
    text = heads.write_active(sorted(active), count)
    assert heads.read_active(text, count) == (sorted(active), "")
    assert len(text) <= 200
    assert heads.write_active(range(count), count) == ""


# Thumbnails


@pytest.mark.parametrize(
    ("count", "tokens", "block", "side"),
    [(2, 7, 1, 7), (12, 96, 1, 96), (12, 97, 2, 49), (12, 512, 6, 86), (50, 512, 11, 47)],
)
def test_thumbnails_are_small_whatever_the_sentence(
    count: int, tokens: int, block: int, side: int
) -> None:
    dots, span = heads.thumbnails(rows(count, tokens, tokens))
    assert (span, dots.shape, dots.dtype) == (block, (count, side, side), torch.uint8)
    assert dots.numel() < 4_000_000 / 8


def test_no_strong_cell_is_lost_and_each_head_has_its_own_scale() -> None:
    weights = torch.full((2, 101, 101), 1e-4)
    weights[0, 17, 93] = 0.9
    weights[1, 100, 3] = 0.01
    dots, block = heads.thumbnails(weights)
    assert block == 2
    assert dots[0, 8, 46] == 255
    assert dots[1, 50, 1] == 255


def test_thumbnails_of_short_sentences_are_the_weights_over_the_greatest() -> None:
    weights = rows(HEADS, TOKENS, TOKENS)
    dots, _ = heads.thumbnails(weights)
    shades = dots.float() / 255 * weights.amax((-2, -1), keepdim=True)
    torch.testing.assert_close(shades, weights, atol=0.5 / 255, rtol=0)
    assert dots.amax((-2, -1)).tolist() == [255] * HEADS


def test_the_first_rows_of_a_causal_mask_do_not_leave_the_others_pale() -> None:
    even = masks.causal(90, 90).float()
    dots, _ = heads.thumbnails((even / even.sum(-1, keepdim=True))[None])
    assert dots[0, 45, 3] > 8 * 255 / 46  # its weight over the greatest is but 1 / 46


def test_heads_that_see_nothing_are_blank() -> None:
    assert not heads.thumbnails(torch.zeros(2, 5, 5))[0].any()


# What each head adds


@torch.no_grad()
@pytest.mark.parametrize("mask", [None, masks.causal(TOKENS, TOKENS)])
def test_what_the_heads_add_sums_to_the_output(mask: Tensor | None) -> None:
    layer, x, found = looked(mask)
    parts = heads.contributions(found.found, found.W_o)
    assert parts.shape == (HEADS, TOKENS, D_MODEL)
    torch.testing.assert_close(parts.sum(0), layer.merge(layer(x, mask)), atol=1e-6, rtol=1e-6)
    for head in range(HEADS):
        alone = layer.head(head)(x, mask).output
        torch.testing.assert_close(parts[head], alone, atol=1e-6, rtol=1e-6)


def test_additions_of_one_token_recompute() -> None:
    _, _, found = looked()
    made = heads.additions(found, 4)
    assert torch.equal(made.output, found.output[4])
    assert made.residual < 1e-6
    names, columns, total = made.table()
    assert names == ["head 0", "head 1", "head 2"]
    length = float(made.output.norm())
    for head in range(HEADS):
        part = made.parts[head]
        assert columns["length"][head] == pytest.approx(float(part.norm()))
        along = float(part @ made.output) / length
        assert columns["along y"][head] == pytest.approx(along, abs=1e-6)
        shown = f"{100 * along / length:.1f} %".replace("-", "−")
        assert columns["share of y"][head] == shown
    assert total == ["y", f"{length:.4f}", f"{length:.4f}", "100.0 %"]


def test_a_token_that_sees_nothing_is_added_nothing() -> None:
    _, _, found = looked(masks.parse_cells("2:*", TOKENS, TOKENS))
    _, columns, total = heads.additions(found, 2).table()
    assert set(columns["share of y"]) == {"0.0 %"}
    assert total == ["y", "0.0000", "0.0000", "0.0 %"]


@pytest.mark.parametrize("rotate", [False, True])
def test_looking_gives_the_numbers_of_the_layer(rotate: bool) -> None:
    bias = -torch.rand(HEADS, TOKENS, TOKENS)
    layer, x, found = looked(masks.causal(TOKENS, TOKENS), rotate=rotate, bias=bias, scale=0.3)
    trace = layer(x, masks.causal(TOKENS, TOKENS), rotate=rotate, bias=bias, scale=0.3)
    assert torch.equal(found.weights, trace.weights)
    assert torch.equal(found.output, layer.merge(trace))
    assert not found.weights.requires_grad


# Neurons


@pytest.mark.parametrize("biased", [False, True])
def test_the_way_from_neurons_to_weights_recomputes(biased: bool) -> None:
    generator = torch.Generator().manual_seed(2)
    q, k, v = (torch.randn(TOKENS, 5, generator=generator) for _ in range(3))
    bias = -torch.rand(TOKENS, TOKENS, generator=generator) if biased else None
    trace = functional.attend(q, k, v, bias=bias, mask=masks.causal(TOKENS, TOKENS))
    found = heads.neurons(trace, 4, "abcdefg")
    assert torch.equal(found.products, q[4] * k)
    scores = found.products.sum(-1)
    torch.testing.assert_close(torch.tensor(found.columns["Σ q×k"]), scores)
    if bias is not None:
        added = torch.tensor(found.columns["× scale"]) + bias[4]
        torch.testing.assert_close(added, trace.scaled[4])
    assert list(found.columns["scaled"][5:]) == ["masked"] * 2
    powers = torch.tensor(found.columns["exp(scaled − greatest)"])
    torch.testing.assert_close(powers / powers.sum(), trace.weights[4])
    assert found.columns["weight"] == trace.weights[4].tolist()
    assert found.total[-2:] == [f"{float(powers.sum()):.4f}", "1.0000"]
    assert len(found.total) == 1 + len(found.columns)


def test_of_many_keys_the_strongest_are_shown_and_the_rest_summed() -> None:
    q, k, v = (torch.randn(53, 3) for _ in range(3))
    trace = functional.attend(q, k, v)
    found = heads.neurons(trace, 11, [str(key) for key in range(53)])
    assert len(found.names) == heads.MAX_KEYS == len(found.k) == len(found.products)
    assert found.rows[-1] == "21 more"
    assert found.total[-1] == "1.0000"
    weights = found.columns["weight"]
    assert math.fsum(float(weight) for weight in weights) == pytest.approx(1, abs=1e-6)
    least = min(float(weight) for weight in weights[:-1])
    left = [key for key in range(53) if str(key) not in found.names]
    assert trace.weights[11, left].max() <= least
    assert "32 keys with the most weight of 53" in found.words


def test_a_query_that_sees_nothing_has_no_weights_and_no_nan() -> None:
    q, k, v = (torch.randn(3, 5) for _ in range(3))
    trace = functional.attend(q, k, v, mask=masks.parse_cells("1:*", 3, 3))
    found = heads.neurons(trace, 1, "abc")
    assert found.columns["scaled"] == ["masked"] * 3
    assert found.total[-2:] == ["0.0000", "0.0000"]


def test_tokens_are_named_by_position_only_where_a_word_comes_again() -> None:
    assert heads.named(["the", "cat", "the"]) == ["the (0)", "cat", "the (2)"]
