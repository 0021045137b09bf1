"""Attention as pure functions: parity, definitions, gradients, and what it must never do."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from attention.core import functional, masks
from attention.core.functional import ScoreFunction, Trace, attend, masked_softmax

GOLDENS = json.loads((Path(__file__).parent / "goldens.json").read_text("utf-8"))
D, HIDDEN, SIGMA = 5, 3, 0.7
SCORES = (
    "dot_scores",
    "bilinear_scores",
    "additive_scores",
    "cosine_scores",
    "gaussian_scores",
)
each_score = pytest.mark.parametrize("name", SCORES)


def normal(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float32) -> Tensor:
    generator = torch.Generator().manual_seed(seed + 100 * sum(shape))
    return torch.randn(shape, generator=generator, dtype=dtype)


def parameters_of(name: str, d: int = D, dtype: torch.dtype = torch.float32) -> list[Tensor]:
    """What a score function takes beside queries and keys."""
    shapes: dict[str, list[tuple[int, ...]]] = {
        "bilinear_scores": [(d, d)],
        "additive_scores": [(d, HIDDEN), (d, HIDDEN), (HIDDEN,)],
    }
    return [normal(*shape, seed=7, dtype=dtype) for shape in shapes.get(name, [])]


def score_function(name: str, d: int = D, dtype: torch.dtype = torch.float32) -> ScoreFunction:
    parameters: list[Any] = [*parameters_of(name, d, dtype)]
    if name == "gaussian_scores":
        parameters.append(SIGMA)
    return lambda queries, keys: getattr(functional, name)(queries, keys, *parameters)


def test_every_public_score_function_is_tested_here() -> None:
    public = {name for name in vars(functional) if name.endswith("_scores") and name[0] != "_"}
    assert public == set(SCORES)


# Against torch and published numbers


def make_mask(kind: str, leading: tuple[int, ...], n_queries: int, n_keys: int) -> Tensor | None:
    hidden = masks.parse_cells("0:1,3-4 1:*", n_queries, n_keys)
    lengths = masks.lengths(torch.tensor([3, 0]), n_keys)
    per_query = masks.lengths(torch.tensor([[1, 5, 2], [7, 0, 3]]), n_keys)
    if kind in ("lengths", "lengths per query"):
        by_batch = lengths if kind == "lengths" else per_query
        return {0: by_batch[0], 1: by_batch, 2: by_batch.unsqueeze(1)}[len(leading)]
    return {
        "none": None,
        "causal": masks.causal(n_queries, n_keys),
        "window": masks.window(n_queries, n_keys, 1),
        "hidden": hidden,
        "combined": masks.causal(n_queries, n_keys) & hidden & lengths[0],
    }[kind]


@pytest.mark.parametrize("leading", [(), (2,), (2, 5)])
@pytest.mark.parametrize(
    "kind", ["none", "causal", "window", "hidden", "combined", "lengths", "lengths per query"]
)
def test_output_agrees_with_torch(kind: str, leading: tuple[int, ...]) -> None:
    queries, keys = normal(*leading, 3, 5), normal(*leading, 7, 5)
    values = normal(*leading, 7, 11)
    mask = make_mask(kind, leading, 3, 7)
    theirs = scaled_dot_product_attention(queries, keys, values, attn_mask=mask)
    trace = attend(queries, keys, values, mask=mask)
    assert trace.output.shape == (*leading, 3, 11)
    torch.testing.assert_close(trace.output, theirs, atol=1e-6, rtol=1e-5)
    theirs = scaled_dot_product_attention(queries, keys, values, attn_mask=mask, scale=0.3)
    ours = attend(queries, keys, values, mask=mask, scale=0.3).output
    torch.testing.assert_close(ours, theirs, atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("name", ["dot_scores", "additive_scores"])
def test_equal_keys_give_the_published_means_of_the_values(name: str) -> None:
    golden = GOLDENS["d2l_classic_toy"]
    keys, values = torch.ones(2, 10, 2), torch.arange(40.0).reshape(1, 10, 4).repeat(2, 1, 1)
    mask = masks.lengths(torch.tensor(golden["valid_lens"]), 10)
    if name == "dot_scores":
        trace = attend(normal(2, 1, 2), keys, values, mask=mask)
    else:
        W_q, W_k, v = normal(20, 8), normal(2, 8), normal(8)

        def scores(queries: Tensor, keys: Tensor) -> Tensor:
            return functional.additive_scores(queries, keys, W_q, W_k, v)

        trace = attend(normal(2, 1, 20), keys, values, scores=scores, scale=1.0, mask=mask)
    expected = torch.tensor(golden["output"], dtype=torch.float32)
    torch.testing.assert_close(trace.output, expected, atol=golden["atol"], rtol=0)
    for weights, length in zip(trace.weights[:, 0], golden["valid_lens"], strict=True):
        assert weights[:length].tolist() == pytest.approx([1 / length] * length, abs=1e-6)
        assert weights[length:].tolist() == [0] * (10 - length)


@pytest.mark.parametrize("case", ["masked_softmax_1d_lens", "masked_softmax_2d_lens"])
def test_masked_softmax_gives_the_published_weights(case: str) -> None:
    golden = GOLDENS[case]
    mask = masks.lengths(torch.tensor(golden["valid_lens"]), 4)
    weights = masked_softmax(torch.tensor(golden["scores"], dtype=torch.float32), mask)
    torch.testing.assert_close(weights, torch.tensor(golden["weights"]), atol=1e-6, rtol=0)


# The score functions


def by_definition(name: str, q: list[float], k: list[float], parameters: list[Any]) -> float:
    """The score of one query and one key, number by number."""
    width = range(len(q))
    if name == "dot_scores":
        return sum(q[i] * k[i] for i in width)
    if name == "bilinear_scores":
        (W,) = parameters
        return sum(q[i] * W[i][j] * k[j] for i in width for j in width)
    if name == "additive_scores":
        W_q, W_k, v = parameters
        return sum(
            v[h] * math.tanh(sum(q[i] * W_q[i][h] + k[i] * W_k[i][h] for i in width))
            for h in range(len(v))
        )
    if name == "cosine_scores":
        return sum(q[i] * k[i] for i in width) / (math.hypot(*q) * math.hypot(*k))
    return -(math.dist(q, k) ** 2) / (2 * SIGMA**2)


@each_score
def test_scores_are_what_their_source_defines(name: str) -> None:
    queries, keys = (normal(n, D, dtype=torch.float64) for n in (3, 7))
    parameters = [p.tolist() for p in parameters_of(name, dtype=torch.float64)]
    expected = [[by_definition(name, q, k, parameters) for k in keys.tolist()] for q in queries]
    scores = score_function(name, dtype=torch.float64)(queries, keys)
    torch.testing.assert_close(scores, torch.tensor(expected, dtype=torch.float64))


def test_bilinear_and_additive_take_queries_and_keys_of_different_widths() -> None:
    queries, keys = normal(3, 5), normal(7, 11)
    assert functional.bilinear_scores(queries, keys, normal(5, 11)).shape == (3, 7)
    W_q, W_k, v = normal(5, 2), normal(11, 2), normal(2)
    assert functional.additive_scores(queries, keys, W_q, W_k, v).shape == (3, 7)


def test_cosine_scores_of_a_zero_vector_are_zero() -> None:
    assert functional.cosine_scores(torch.zeros(3, 5), normal(7, 5)).tolist() == [[0] * 7] * 3


@pytest.mark.parametrize(("n", "d"), [(3, 5), (7, 11), (64, 50)])
@each_score
def test_leading_dimensions_of_one_change_no_digit(name: str, n: int, d: int) -> None:
    scores = score_function(name, d)
    x, y = normal(n, d, seed=1), normal(n + 2, d, seed=2)
    mask = masks.causal(n, n + 2)
    flat = attend(x, y, y, scores=scores, mask=mask)
    once = attend(x[None], y[None], y[None], scores=scores, mask=mask)
    twice = attend(x[None, None], y[None, None], y[None, None], scores=scores, mask=mask)
    for step in ("scores", "scaled", "weights", "output"):
        assert torch.equal(getattr(flat, step)[None], getattr(once, step))
        assert torch.equal(getattr(flat, step)[None, None], getattr(twice, step))


@each_score
def test_a_batch_is_its_slices(name: str) -> None:
    scores = score_function(name)
    queries, keys, values = normal(2, 3, 7, D), normal(2, 3, 11, D), normal(2, 3, 11, 13)
    whole = attend(queries, keys, values, scores=scores)
    for b in range(2):
        for h in range(3):
            part = attend(queries[b, h], keys[b, h], values[b, h], scores=scores)
            torch.testing.assert_close(whole.scores[b, h], part.scores, atol=1e-5, rtol=1e-5)
            torch.testing.assert_close(whole.output[b, h], part.output, atol=1e-5, rtol=1e-5)


@each_score
def test_leading_dimensions_broadcast(name: str) -> None:
    scores = score_function(name)
    queries, keys = normal(2, 1, 7, D), normal(3, 11, D)
    whole = scores(queries, keys)
    assert whole.shape == (2, 3, 7, 11)
    torch.testing.assert_close(whole[1, 2], scores(queries[1, 0], keys[2]), atol=1e-5, rtol=1e-5)


@each_score
def test_no_keys_give_no_scores(name: str) -> None:
    assert score_function(name)(normal(3, D), torch.zeros(0, D)).shape == (3, 0)


# Additive scores in blocks


@pytest.mark.parametrize("gradients", [False, True])
@pytest.mark.parametrize("chunk", [1, 3, 7, 24, 100, 500, 1 << 20])
def test_additive_scores_in_blocks_are_the_same_and_never_exceed_the_chunk(
    chunk: int, gradients: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []
    whole_block = functional._tanh_scores

    def counted(left: Tensor, right: Tensor, v: Tensor) -> Tensor:
        shape = torch.broadcast_shapes(left.unsqueeze(-2).shape, right.unsqueeze(-3).shape)
        made.append(shape.numel())
        return whole_block(left, right, v)

    monkeypatch.setattr(functional, "_tanh_scores", counted)
    queries, keys, parameters = normal(2, 5, D), normal(2, 7, D), parameters_of("additive_scores")
    queries.requires_grad_(gradients)
    scores = functional.additive_scores(queries, keys, *parameters, chunk=chunk)
    if gradients:
        scores.sum().backward()
    assert max(made) <= max(chunk, HIDDEN)
    assert sum(made) == 2 * 5 * 7 * HIDDEN * (2 if gradients else 1)
    expected = whole_block(queries @ parameters[0], keys @ parameters[1], parameters[2])
    torch.testing.assert_close(scores, expected)


def test_additive_gradients_do_not_depend_on_the_chunk() -> None:
    def gradients(chunk: int) -> list[Tensor]:
        inputs = [normal(5, D), normal(7, D), *parameters_of("additive_scores")]
        leaves = [tensor.requires_grad_() for tensor in inputs]
        functional.additive_scores(*leaves, chunk=chunk).square().sum().backward()
        return [leaf.grad for leaf in leaves if leaf.grad is not None]

    tiny, whole = gradients(7), gradients(1 << 20)
    assert len(tiny) == 5
    torch.testing.assert_close(tiny, whole)


# Gradients


@each_score
def test_gradients_of_the_scores_are_right(name: str) -> None:
    x = normal(3, D, dtype=torch.float64).requires_grad_()
    y = normal(2, D, dtype=torch.float64).requires_grad_()
    parameters = [p.requires_grad_() for p in parameters_of(name, dtype=torch.float64)]
    function = getattr(functional, name)
    assert torch.autograd.gradcheck(function, (x, y, *parameters))
    assert torch.autograd.gradcheck(lambda x, *rest: function(x, x, *rest), (x, *parameters))


def test_gradients_of_additive_scores_are_right_in_many_blocks() -> None:
    inputs = [normal(3, D), normal(2, D), *parameters_of("additive_scores")]
    leaves = [tensor.double().requires_grad_() for tensor in inputs]

    def in_blocks(*leaves: Tensor) -> Tensor:
        return functional.additive_scores(*leaves, chunk=2 * HIDDEN)

    assert torch.autograd.gradcheck(in_blocks, leaves)


def test_gradients_of_masked_softmax_are_right_and_finite_with_an_empty_row() -> None:
    scores = normal(3, 5, dtype=torch.float64).requires_grad_()
    mask = masks.parse_cells("0:1 1:*", 3, 5)
    assert torch.autograd.gradcheck(lambda s: masked_softmax(s, mask), (scores,))
    masked_softmax(scores, mask).square().sum().backward()
    assert scores.grad is not None
    assert scores.grad.isfinite().all()
    assert scores.grad[1].tolist() == [0] * 5
    assert scores.grad[0, 1] == 0


@each_score
def test_gradients_through_attention_are_finite_with_an_empty_row(name: str) -> None:
    x = normal(3, D).requires_grad_()
    mask = masks.parse_cells("1:*", 3, 3)
    attend(x, x, x, scores=score_function(name), mask=mask).output.square().sum().backward()
    assert x.grad is not None
    assert x.grad.isfinite().all()


# The masked softmax and attend


def traced(**more: Any) -> Trace:
    return attend(normal(2, 3, 5), normal(2, 7, 5), normal(2, 7, 11), **more)


def test_weights_are_distributions_over_keys() -> None:
    weights = traced(mask=masks.causal(3, 7)).weights
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, 3))
    assert (weights >= 0).all()
    assert torch.equal(weights[:, 0], torch.eye(7)[0].expand(2, 7))


def test_every_step_follows_from_the_one_before() -> None:
    mask = masks.parse_cells("0:1,3-5 2:6", 3, 7)
    trace = traced(mask=mask)
    assert torch.equal(trace.scores, trace.queries @ trace.keys.transpose(1, 2))
    torch.testing.assert_close(trace.scaled, trace.scores / math.sqrt(5))
    assert torch.equal(trace.weights, masked_softmax(trace.scaled, mask))
    assert torch.equal(trace.output, trace.weights @ trace.values)
    assert trace.mask is not None
    assert torch.equal(trace.mask.expand(2, 3, 7), mask.expand(2, 3, 7))
    assert trace.dropped is None


def test_a_scale_is_a_factor_on_the_scores() -> None:
    assert torch.equal(traced(scale=1.0).scaled, traced().scores)
    assert torch.equal(traced(scale=-2.0).scaled, traced().scores * -2)
    assert torch.equal(traced(scale=0.0).weights, torch.full((2, 3, 7), 1 / 7))


def test_hiding_a_key_renormalises_the_row() -> None:
    weights = masked_softmax(torch.tensor([[1.0, 2.0, 3.0]]).log(), masks.parse_cells("0:1", 1, 3))
    torch.testing.assert_close(weights, torch.tensor([[0.25, 0, 0.75]]))


def test_masked_weights_are_exactly_zero_even_for_the_greatest_scores() -> None:
    mask = masks.parse_cells("0:0,4-6 1:2", 3, 7)
    weights = masked_softmax(torch.where(mask, -1e4, 1e4), mask)
    assert (weights[~mask] == 0).all()
    assert (weights[mask] > 0).all()


def test_a_query_with_nothing_to_attend_to_gets_zeros() -> None:
    trace = traced(mask=masks.parse_cells("1:*", 3, 7))
    assert (trace.weights[:, 1] == 0).all()
    assert (trace.output[:, 1] == 0).all()
    torch.testing.assert_close(trace.weights[:, 0::2], traced().weights[:, 0::2])


def test_keys_that_do_not_exist_give_zeros() -> None:
    trace = attend(normal(3, 5), torch.zeros(0, 5), torch.zeros(0, 11))
    assert trace.output.tolist() == [[0] * 11] * 3


@pytest.mark.parametrize("masked", [False, True])
def test_scores_of_ten_thousand_give_no_nan(masked: bool) -> None:
    scores = torch.tensor([[1e4, -1e4, 0], [-1e4, -1e4, -1e4], [1e4, 1e4, 1e4]])
    mask = masks.parse_cells("0:0 1:*", 3, 3) if masked else None
    trace = attend(
        normal(3, 5), normal(3, 5), normal(3, 7), scores=lambda q, k: scores, scale=1.0, mask=mask
    )
    empty = [[0, 0, 1], [0, 0, 0], [1 / 3] * 3] if masked else [[1, 0, 0], [1 / 3] * 3, [1 / 3] * 3]
    torch.testing.assert_close(trace.weights, torch.tensor(empty))
    assert trace.output.isfinite().all()


@pytest.mark.parametrize("shape", [(7,), (1, 7), (3, 1), (1, 1, 7), (2, 1, 1), ()])
def test_masks_broadcast_to_the_scores(shape: tuple[int, ...]) -> None:
    mask = normal(*shape, seed=3) > 0
    small, full = traced(mask=mask), traced(mask=mask.expand(2, 3, 7))
    assert torch.equal(small.weights, full.weights)


@each_score
def test_inputs_are_never_changed_in_place(name: str) -> None:
    inputs = [normal(3, D), normal(7, D), normal(7, 11)]
    mask = masks.parse_cells("0:1 1:*", 3, 7)
    before = [tensor.clone() for tensor in (*inputs, mask)]
    trace = attend(*inputs, scores=score_function(name), mask=mask, dropout=0.5)
    assert all(torch.equal(a, b) for a, b in zip((*inputs, mask), before, strict=True))
    raw = trace.scores.clone()
    masked_softmax(trace.scores, mask)
    assert torch.equal(trace.scores, raw)


# Dropout


def dropped(seed: int, dropout: float = 0.3, draws: int = 2) -> Trace:
    generator = torch.Generator().manual_seed(seed)
    queries, keys, values = (normal(n, d).expand(draws, n, d) for n, d in ((3, 5), (7, 5), (7, 11)))
    return attend(queries, keys, values, dropout=dropout, generator=generator)


def test_dropout_repeats_with_its_seed() -> None:
    assert torch.equal(dropped(1).output, dropped(1).output)
    assert not torch.equal(dropped(1).output, dropped(2).output)


def test_weights_are_kept_from_before_dropout() -> None:
    trace = dropped(1)
    assert torch.equal(trace.weights, dropped(1, dropout=0.0).weights)
    torch.testing.assert_close(trace.weights.sum(-1), torch.ones(2, 3))


def test_dropout_sets_weights_to_zero_or_scales_them_up() -> None:
    trace = dropped(1)
    assert trace.dropped is not None
    kept = trace.dropped != 0
    assert 0 < kept.sum() < kept.numel()
    torch.testing.assert_close(trace.dropped[kept], trace.weights[kept] / 0.7)
    assert torch.equal(trace.output, trace.dropped @ trace.values)


def test_dropped_rows_average_to_one_over_many_draws() -> None:
    trace = dropped(1, draws=20_000)
    assert trace.dropped is not None
    torch.testing.assert_close(trace.dropped.sum(-1).mean(0), torch.ones(3), atol=0.02, rtol=0)
    torch.testing.assert_close(trace.dropped.mean(0), trace.weights[0], atol=0.01, rtol=0)
    assert (trace.dropped == 0).float().mean().item() == pytest.approx(0.3, abs=0.005)


# What does not fit


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: functional.dot_scores(normal(3, 5), normal(7, 11)),
            r"same width: got \(3, 5\) and \(7, 11\)",
        ),
        (
            lambda: functional.gaussian_scores(normal(3, 5), normal(7, 11)),
            r"same width: got \(3, 5\) and \(7, 11\)",
        ),
        (
            lambda: functional.cosine_scores(normal(3, 5), normal(7, 11)),
            r"same width: got \(3, 5\) and \(7, 11\)",
        ),
        (
            lambda: functional.bilinear_scores(normal(3, 5), normal(7, 11), normal(5, 13)),
            r"same width: got \(3, 13\) and \(7, 11\)",
        ),
        (
            lambda: functional.gaussian_scores(normal(3, 5), normal(7, 5), 0),
            "sigma must be greater than 0, got 0",
        ),
        (
            lambda: functional.gaussian_scores(normal(3, 5), normal(7, 5), -1.5),
            "sigma must be greater than 0, got -1.5",
        ),
        (
            lambda: functional.gaussian_scores(normal(3, 5), normal(7, 5), math.nan),
            "sigma must be greater than 0, got nan",
        ),
        (
            lambda: attend(normal(3, 5), normal(7, 5), normal(11, 5)),
            "each key needs a value: got 7 keys and 11 values",
        ),
        (
            lambda: traced(mask=torch.ones(3, 7)),
            r"mask must be bool \(True = may attend\), got torch.float32",
        ),
        (
            lambda: traced(mask=torch.ones(3, 7, dtype=torch.int64)),
            r"mask must be bool \(True = may attend\), got torch.int64",
        ),
        (
            lambda: traced(mask=masks.causal(7, 3)),
            r"mask must broadcast to \(…, queries, keys\) = \(2, 3, 7\), got \(7, 3\)",
        ),
        (
            lambda: traced(mask=torch.ones(5, 1, 3, 7, dtype=torch.bool)),
            r"mask must broadcast to .* = \(2, 3, 7\), got \(5, 1, 3, 7\)",
        ),
        (lambda: traced(dropout=1.0), r"dropout must lie in \[0, 1\), got 1.0"),
        (lambda: traced(dropout=-0.1), r"dropout must lie in \[0, 1\), got -0.1"),
        (lambda: traced(dropout=math.nan), r"dropout must lie in \[0, 1\), got nan"),
    ],
)
def test_what_does_not_fit_is_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
