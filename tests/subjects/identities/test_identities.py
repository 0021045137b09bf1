"""Claims about attention: their two sides, how far they are apart, and what is shown of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from attention.core.positions import sinusoidal
from attention.core.printing import percent
from attention.figures.matrix import Matrix
from attention.subjects.identities import influence
from attention.subjects.identities.claim import Case, Check, ClaimResult, Row, difference, rounding
from attention.subjects.identities.identities import (
    CLAIMS,
    ClaimSettings,
    check_claim,
    merged,
    permutation,
    random_case,
)
from attention.subjects.identities.influence import recurrent, swap
from attention.subjects.identities.mistakes import MISTAKES
from tests.cases import over
from tests.properties import given
from tests.properties import settings as hypothesis_settings
from tests.properties import strategies as st
from tests.subjects.play.how.making import drawn, matrices

EVERY = [(claim, "values") for claim in CLAIMS if claim != "mistakes"]
EVERY += [("mistakes", mistake) for mistake in MISTAKES]
LARGEST = {"tokens": 7, "width": 31, "claim_d_k": 11}
SMALL = {"tokens": 5, "width": 7, "claim_d_k": 3}
Size = dict[str, Any]
Made = dict[str, Tensor]
Sides = list[tuple[Tensor, Tensor]]


def for_any_size(examples: int = 25, **more: Any) -> Callable[[Any], Any]:
    """Runs a test for cases of many sizes, and with what else is drawn."""
    drawn = {name: st.integers(1, most) for name, most in LARGEST.items()}
    sizes = st.fixed_dictionaries(drawn | {"claim_seed": st.integers(0, 9999)})
    chosen = hypothesis_settings(max_examples=examples)
    return lambda test: chosen(given(size=sizes, **more)(test))


def checked(claim: str, **settings: Any) -> ClaimResult:
    return check_claim(claim, random_case(ClaimSettings(claim=claim, **settings)))


def given_of(result: ClaimResult) -> Made:
    return {matrix.name: matrix.numbers.double() for matrix in result.given}


def rows_of(result: ClaimResult) -> list[list[Matrix]]:
    """The matrices that are shown, row by row."""
    return [matrices(item.parts) for item in result.shown if isinstance(item, Row)]


def shown_of(result: ClaimResult) -> Made:
    return {part.name: part.numbers for row in rows_of(result) for part in row}


def close(left: Tensor, right: Tensor, tolerance: float = 1e-5) -> bool:
    return bool(((left.double() - right).abs() <= tolerance * (1 + right.abs().max())).all())


def attention(x: Tensor, W_q: Tensor, W_k: Tensor, mask: Tensor | None = None) -> Tensor:
    """The weights, written out anew in float64."""
    powers = ((x @ W_q) @ (x @ W_k).T / math.sqrt(W_q.shape[1])).exp()
    powers = powers if mask is None else powers * mask
    return powers / powers.sum(-1, keepdim=True)


# What holds for every claim


@pytest.mark.parametrize("claim", CLAIMS)
@for_any_size(
    40,
    mistake=st.sampled_from(tuple(MISTAKES)),
    pads=st.integers(0, 9),
    fill=st.floats(-1e10, 1e10),
)
def test_identities_hold_to_rounding_whatever_the_sizes(claim, size, mistake, pads, fill):
    for check in checked(claim, **size, mistake=mistake, pads=pads, fill=fill).checks:
        assert check.same or not check.equal, check.label
        assert math.isfinite(check.difference)
        assert 0 <= check.allowed < 0.1


@over("claim, mistake", EVERY)
def test_what_is_said_to_differ_differs_far_beyond_rounding_and_both_sides_are_on_the_page(
    claim, mistake
):
    made = []
    for seed in (0, 0, 1, 2):
        result = checked(claim, **SMALL, claim_seed=seed, mistake=mistake)
        shown = {id(part) for row in rows_of(result) for part in row}
        for check in result.checks:
            assert check.holds
            assert check.equal or check.difference > 100 * check.allowed
            assert {id(check.left), id(check.right)} <= shown
        made.append(given_of(result))
    first, again, other, _ = made
    for name, numbers in first.items():
        assert_close(again[name], numbers)
        assert name == "positions" or not numbers.allclose(other[name])


@over("claim, mistake", EVERY)
def test_vectors_of_zeros_are_no_trouble(claim, mistake):
    for check in check_claim(claim, Case(torch.zeros(3, 5), [*"abc"], mistake=mistake)).checks:
        assert check.same or not check.equal
        assert math.isfinite(check.difference)


def test_a_residual_is_the_greatest_difference_of_what_is_shown_and_gives_the_verdict():
    left = Matrix("a", torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    right = Matrix("b", torch.tensor([[1.0, 2.5], [3.0, 1.0]]))
    assert difference(left, right).numbers.tolist() == [[0.0, -0.5], [0.0, 3.0]]
    said = {
        (left, 0.0): "Equal to the last digit.",
        (right, 3.0): "True to rounding: they differ by 3.0000 at most.",
        (right, 2.9): "Not the same: they differ by 3.0000 at most.",
    }
    for (other, allowed), words in said.items():
        same, different = (Check("", left, other, allowed, equal) for equal in (True, False))
        assert same.verdict == different.verdict == words
        assert same.difference == (0.0 if other is left else 3.0)
        assert same.same == same.holds == (allowed != 2.9) == (not different.holds)


def test_rounding_is_four_epsilon_a_product_of_absolute_values():
    left, right = torch.tensor([[1.0, -2.0]]), torch.tensor([[3.0], [4.0]])
    assert rounding(left, right) == 4 * 2**-23 * 11
    assert rounding(left, right, torch.tensor([[-2.0]])) == 8 * 2**-23 * 22


ONE = torch.ones(1, 1)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: check_claim("nope", Case(ONE, ["a"])), "claim must be one of scale, .*nope"),
        (
            lambda: check_claim("mistakes", Case(ONE, ["a"], mistake="none")),
            "mistake must be one of values, fill, .*, got 'none'",
        ),
        (lambda: Case(torch.ones(2, 3), ["a"]), r"got \(2, 3\) and 1 names"),
        (lambda: Case(torch.ones(0, 3), []), r"at least 1 × 1: got \(0, 3\) and 0 names"),
        (lambda: Case(torch.ones(3), ["a"] * 3), r"x must be \(n, d_model\)"),
    ],
)
def test_what_is_no_claim_and_no_case_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


# Both sides, written out anew


def scaling(made: Made, size: Size) -> Sides:
    scores = (made["X"] @ made["W_q"]) @ (made["X"] @ made["W_k"]).T / size["claim_d_k"] ** 0.5
    return [(scores, scores)] * 3


def merging(made: Made, size: Size) -> Sides:
    _, rank = merged(made["W_q"].float(), made["W_k"].float())
    assert 1 <= rank <= min(size["claim_d_k"], size["width"])
    M = made["W_q"] @ made["W_k"].T
    here, there = (made[name] @ M @ made[name].T for name in ("X", "X′"))
    return [(here, here), (here, here), (there, made["X′"] @ made["Z"]), (there, there)]


def permuted(made: Made, size: Size) -> Sides:
    order = permutation(size["tokens"], size["claim_seed"])
    causal = torch.ones(size["tokens"], size["tokens"]).tril().double()

    def output(x: Tensor, mask: Tensor | None = None) -> Tensor:
        return attention(x, made["W_q"], made["W_k"], mask) @ x @ made["W_v"]

    x, positions = made["X"], made["positions"]
    assert close(positions, sinusoidal(size["tokens"], size["width"]).double())
    return [
        (output(x[order]), output(x)[order]),
        (output(x[order], causal), output(x, causal)[order]),
        (output(x[order] + positions), output(x + positions)[order]),
    ]


def leading(made: Made, size: Size) -> Sides:
    weights = (made["Q"] @ made["K"].T / math.sqrt(size["claim_d_k"])).softmax(-1)
    return [(weights @ made["V"],) * 2] * 3


@pytest.mark.parametrize(
    ("claim", "sides"),
    [("scale", scaling), ("merge", merging), ("permute", permuted), ("leading", leading)],
)
@for_any_size()
def test_both_sides_recompute_from_what_is_given(claim, sides, size):
    result = checked(claim, **size)
    for check, (left, right) in zip(result.checks, sides(given_of(result), size), strict=True):
        assert close(check.left.numbers, left)
        assert close(check.right.numbers, right)


def test_leading_dimensions_alone_change_no_bit():
    alone, deeper, _ = checked("leading").checks
    assert (alone.difference, deeper.difference) == (0.0, 0.0)


@given(n=st.integers(1, 24), seed=st.integers(0, 9999))
@hypothesis_settings(max_examples=60)
def test_a_permutation_moves_something_wherever_it_can(n, seed):
    order = permutation(n, seed)
    assert sorted(order) == list(range(n))
    assert (order == list(range(n))) == (n == 1)


# Influence


def test_the_network_is_torchs():
    x, W, U = drawn(5, 3), drawn(3, 2, seed=1), drawn(2, 2, seed=2)
    cell = torch.nn.RNN(3, 2, bias=False)
    cell.weight_ih_l0.data, cell.weight_hh_l0.data = W.T, U.T
    assert_close(recurrent(x, W, U), cell(x)[0])


@for_any_size(15)
def test_influences_recompute_by_small_steps(size):
    result = checked("influence", **size)
    made, shown = given_of(result), shown_of(result)
    x, W_q, W_k, W_v = (made[name] for name in ("X", "W_q", "W_k", "W_v"))
    layers: dict[str, Callable[[Tensor], Tensor]] = {
        "attention": lambda x: attention(x, W_q, W_k) @ x @ W_v,
        "linear layer": lambda x: shown["B"].double() @ x @ W_v,
        "RNN": lambda x: recurrent(x, W_v, made["U"]),
    }
    nudges = 1e-6 * torch.eye(x.numel()).double().view(*x.shape, *x.shape)
    for name, layer in layers.items():
        slopes = [
            [(layer(x + nudge) - layer(x - nudge)) / 2e-6 for nudge in token] for token in nudges
        ]
        squares = torch.stack([sum(each.square().sum(-1) for each in some) for some in slopes], -1)
        assert close(shown[name], squares.sqrt(), 1e-4), name


def test_swapped_words_take_attentions_weights_with_them_once_the_exchange_is_undone():
    case = random_case(ClaimSettings(tokens=5))
    result = influence.influence(case)
    mixing, fixed = result.checks
    made, shown, order = given_of(result), shown_of(result), swap(case.x)
    weights = attention(made["X"], made["W_q"], made["W_k"])
    assert close(shown["A, swapped"], weights[order][:, order])
    assert close(mixing.left.numbers, weights)
    assert close(mixing.right.numbers, weights)
    assert mixing.difference <= mixing.allowed < 0.01 < fixed.difference
    assert torch.equal(shown["B, swapped"], fixed.left.numbers)
    assert torch.equal(fixed.right.numbers, fixed.left.numbers[order][:, order])
    assert_close(fixed.left.numbers.sum(-1), torch.ones(5))
    assert not case.x.requires_grad


# Mistakes


@pytest.mark.parametrize("mistake", MISTAKES)
@for_any_size(20, pads=st.integers(0, 7), fill=st.sampled_from([0.0, -2.5, 3.0, -1e9]))
def test_right_and_wrong_recompute_from_what_is_given(mistake, size, pads, fill):
    result = checked("mistakes", mistake=mistake, pads=pads, fill=fill, **size)
    made, n = given_of(result), size["tokens"]
    x = made["X"]
    queries, keys = x @ made["W_q"], x @ made["W_k"]
    scaled = queries @ keys.T / math.sqrt(size["claim_d_k"])
    kept = torch.arange(n) < max(n - pads, 1)
    sums = queries[:, None] + keys

    def filled(number: float) -> Tensor:
        return scaled.masked_fill(~kept, number).softmax(-1)

    match mistake:
        case "values":
            right, wrong = scaled.softmax(-1) @ x @ made["W_v"], scaled.softmax(-1) @ x
        case "fill":
            right, wrong = filled(-math.inf), filled(fill)
        case "count":
            right, wrong = scaled.softmax(-1), (scaled / math.sqrt(n)).softmax(-1)
        case "tanh":
            right, wrong = ((s @ made["v"])[..., 0].softmax(-1) for s in (sums.tanh(), sums))
    (check,) = result.checks
    assert close(check.left.numbers, right)
    assert close(check.right.numbers, wrong)
    assert check.difference == pytest.approx(float((right - wrong).abs().max()), abs=1e-4)


@pytest.mark.parametrize(
    ("fill", "power", "words"),
    [
        (0.0, "1.0000", "Padding keeps up to "),
        (2.5, "12.1825", "Padding keeps up to "),
        (-10.0, "4.540e−5", "Padding keeps up to "),
        (-1e9, "0.0000", "too small for float32 to tell from 0"),
        (1e10, "beyond all bounds", "Padding keeps up to 100.0 %"),
    ],
)
def test_what_a_filled_score_gives_to_padding_is_told_as_it_is(fill, power, words):
    result = checked("mistakes", mistake="fill", tokens=5, fill=fill)
    (check,) = result.checks
    kept = float(check.right.numbers[:, 4:].sum(-1).max())
    assert f"its exponential, {power}, counts" in result.why
    assert words in result.why
    assert check.same == (kept == 0.0)
    assert not 0 < kept < 1 or f"up to {percent(kept, 1)} of" in result.why
