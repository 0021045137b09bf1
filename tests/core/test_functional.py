"""Attention as pure functions: parity, definitions, gradients, and what it must never do."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.autograd import gradcheck
from torch.nn.functional import scaled_dot_product_attention
from torch.testing import assert_close

from attention.core import functional, masks
from attention.core.functional import (
    STAGES,
    ScoreFunction,
    Trace,
    WeightsAlone,
    attend,
    drop,
    masked_softmax,
)
from attention.core.scales import root_of_both
from tests.cases import over

GOLDENS = json.loads((Path(__file__).parents[1] / "goldens.json").read_text("utf-8"))
D, HIDDEN, SIGMA = 5, 3, 0.7
SCORES = [name for name in vars(functional) if name.endswith("_scores") and name[0] != "_"]
each_score = pytest.mark.parametrize("name", SCORES)


def normal(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float32) -> Tensor:
    generator = torch.Generator().manual_seed(seed + 100 * sum(shape))
    return torch.randn(shape, generator=generator, dtype=dtype)


def parameters_of(name: str, dtype: torch.dtype = torch.float32) -> list[Tensor]:
    """Parameters of a score function beside queries and keys."""
    shapes: dict[str, list[tuple[int, ...]]] = {
        "bilinear_scores": [(D, D)],
        "additive_scores": [(D, HIDDEN), (D, HIDDEN), (HIDDEN,)],
    }
    return [normal(*shape, seed=7, dtype=dtype) for shape in shapes.get(name, [])]


def score_function(name: str, dtype: torch.dtype = torch.float32) -> ScoreFunction:
    parameters: list[Any] = [*parameters_of(name, dtype)]
    if name == "gaussian_scores":
        parameters.append(SIGMA)
    return lambda queries, keys: getattr(functional, name)(queries, keys, *parameters)


def traced(*leading: int, **more: Any) -> Trace:
    return attend(normal(*leading, 3, 5), normal(*leading, 7, 5), normal(*leading, 7, 11), **more)


# Against torch and published numbers


CELLS = masks.parse_cells("0:1,3-4 1:*", 3, 7)
MASKS = {
    "none": None,
    "cells": CELLS,
    "combined": masks.causal(3, 7) & CELLS,
    "lengths": masks.lengths(torch.tensor([3, 0]), 7),
    "lengths per query": masks.lengths(torch.tensor([[1, 5, 2], [7, 0, 3]]), 7),
}


@pytest.mark.parametrize("leading", [(), (2,), (2, 5)])
@pytest.mark.parametrize("kind", MASKS)
def test_output_agrees_with_torch(kind, leading):
    mask = MASKS[kind]
    if mask is not None and mask.dim() == 3:
        mask = (mask[0], mask, mask.unsqueeze(1))[len(leading)]
    trace = traced(*leading, mask=mask)
    assert trace.output.shape == (*leading, 3, 11)
    inputs = trace.queries, trace.keys, trace.values
    assert_close(trace.output, scaled_dot_product_attention(*inputs, attn_mask=mask))
    theirs = scaled_dot_product_attention(*inputs, attn_mask=mask, scale=0.3)
    assert_close(attend(*inputs, mask=mask, scale=0.3).output, theirs)


def barring(*rows: int) -> Tensor:
    """A bias that bars these rows from all keys, and the first row from two."""
    bias = normal(3, 7, seed=13)
    bias[0, 2:4] = -math.inf
    bias[[*rows]] = -math.inf
    return bias


@over("mask", [None, CELLS, masks.causal(3, 7), masks.parse_cells("2:*", 3, 7)])
def test_rows_that_a_bias_bars_throughout_are_zero_as_those_that_a_mask_bars(mask):
    bias = barring(1)
    trace = traced(2, mask=mask, bias=bias)
    both = bias if mask is None else bias.masked_fill(~mask, -math.inf)
    inputs = trace.queries, trace.keys, trace.values
    assert_close(trace.output, scaled_dot_product_attention(*inputs, attn_mask=both))
    assert (trace.weights[:, 1].count_nonzero(), trace.output[:, 1].count_nonzero()) == (0, 0)
    allowed = both > -math.inf
    assert torch.equal(trace.weights, traced(2, mask=allowed, bias=bias).weights)
    assert_close(trace.weights.sum(-1), allowed.any(-1).float().expand(2, 3))


@pytest.mark.parametrize("name", ["dot_scores", "additive_scores"])
def test_equal_keys_give_the_published_means_of_the_values(name):
    golden = GOLDENS["d2l_classic_toy"]
    keys, values = torch.ones(2, 10, D), torch.arange(40.0).reshape(1, 10, 4).repeat(2, 1, 1)
    mask = masks.lengths(torch.tensor(golden["valid_lens"]), 10)
    trace = attend(normal(2, 1, D), keys, values, scores=score_function(name), mask=mask)
    expected = torch.tensor(golden["output"], dtype=torch.float32)
    assert_close(trace.output, expected, atol=golden["atol"], rtol=0)
    for weights, length in zip(trace.weights[:, 0], golden["valid_lens"], strict=True):
        assert weights[:length].tolist() == pytest.approx([1 / length] * length, abs=1e-6)
        assert weights[length:].tolist() == [0] * (10 - length)


# The score functions


def by_definition(name: str, q: list[float], k: list[float], parameters: list[Any]) -> Any:
    """The score of one query and one key, number by number."""
    width = range(len(q))
    if name == "bilinear_scores":
        (W,) = parameters
        return sum(q[i] * W[i][j] * k[j] for i in width for j in width)
    if name == "additive_scores":
        W_q, W_k, v = parameters
        sums = [sum(q[i] * W_q[i][h] + k[i] * W_k[i][h] for i in width) for h in range(len(v))]
        return sum(v[h] * math.tanh(sums[h]) for h in range(len(v)))
    if name == "gaussian_scores":
        return -(math.dist(q, k) ** 2) / (2 * SIGMA**2)
    dot = sum(q[i] * k[i] for i in width)
    return {"dot_scores": dot, "cosine_scores": dot / (math.hypot(*q) * math.hypot(*k))}[name]


@each_score
def test_scores_are_what_their_source_defines(name):
    queries, keys = (normal(n, D, dtype=torch.float64) for n in (3, 7))
    parameters = [p.tolist() for p in parameters_of(name, torch.float64)]
    expected = [[by_definition(name, q, k, parameters) for k in keys.tolist()] for q in queries]
    scores = score_function(name, torch.float64)(queries, keys)
    assert_close(scores, torch.tensor(expected, dtype=torch.float64))


def test_cosine_scores_of_a_zero_vector_are_zero():
    assert functional.cosine_scores(torch.zeros(3, 5), normal(7, 5)).tolist() == [[0] * 7] * 3


@pytest.mark.parametrize(("chunk", "gradients"), [(1, True), (7, False), (100, True), (500, False)])
def test_additive_scores_in_blocks_are_the_same_and_never_exceed_the_chunk(
    chunk, gradients, monkeypatch
):
    made: list[int] = []
    whole_block = functional._tanh_scores

    def counted(left: Tensor, right: Tensor, v: Tensor) -> Tensor:
        shape = torch.broadcast_shapes(left.unsqueeze(-2).shape, right.unsqueeze(-3).shape)
        made.append(shape.numel())
        return whole_block(left, right, v)

    monkeypatch.setattr(functional, "_tanh_scores", counted)
    leaves = [normal(2, 5, D), normal(2, 7, D), *parameters_of("additive_scores")]
    queries, keys, W_q, W_k, v = (leaf.requires_grad_(gradients) for leaf in leaves)
    scores = functional.additive_scores(queries, keys, W_q, W_k, v, chunk=chunk)
    expected = whole_block(queries @ W_q, keys @ W_k, v)
    assert_close(scores, expected)
    if gradients:
        ours, theirs = (
            torch.autograd.grad(each.square().sum(), leaves) for each in (scores, expected)
        )
        assert_close(ours, theirs)
    assert max(made) <= max(chunk, HIDDEN)
    assert sum(made) == 2 * 5 * 7 * HIDDEN * (2 if gradients else 1)


@each_score
def test_gradients_of_the_scores_are_right(name):
    x, y = (normal(n, D, dtype=torch.float64).requires_grad_() for n in (3, 2))
    parameters = [p.requires_grad_() for p in parameters_of(name, torch.float64)]
    function = getattr(functional, name)
    assert gradcheck(function, (x, y, *parameters))
    assert gradcheck(lambda x, *rest: function(x, x, *rest), (x, *parameters))


@over("bars", ["mask", "bias"])
def test_gradients_of_masked_softmax_are_right_and_finite_with_an_empty_row(bars):
    scores = normal(3, 7, dtype=torch.float64).requires_grad_()
    mask = masks.parse_cells("0:1 1:*", 3, 7) if bars == "mask" else None
    bias = barring(1).double() if bars == "bias" else 0.0
    assert gradcheck(lambda s: masked_softmax(s + bias, mask), (scores,))
    (gradient,) = torch.autograd.grad(masked_softmax(scores + bias, mask).square().sum(), scores)
    assert gradient.isfinite().all()
    assert gradient[1].tolist() == [0] * 7


# The masked softmax


HUGE = [[1e4, -1e4, -1e4], [-1e4, -1e4, -1e4], [1e4, 1e4, 1e4]]


@pytest.mark.parametrize(
    ("scores", "cells", "expected"),
    [
        ([[0, math.log(2), math.log(3)]], "0:1", [[0.25, 0, 0.75]]),
        (HUGE, "", [[1, 0, 0], [1 / 3] * 3, [1 / 3] * 3]),
        (HUGE, "0:0 1:*", [[0, 0.5, 0.5], [0, 0, 0], [1 / 3] * 3]),
    ],
)
def test_hidden_keys_have_weight_zero_exactly_and_the_others_share_it_however_large_the_scores(
    scores, cells, expected
):
    mask = masks.parse_cells(cells, len(scores), 3)
    weights = masked_softmax(torch.tensor(scores), mask if cells else None)
    assert_close(weights, torch.tensor(expected, dtype=torch.float32))
    assert not weights[~mask].any()


# attend, and the trace it leaves


def test_scores_are_scaled_then_the_bias_is_added_and_both_are_kept():
    bias = normal(3, 7, seed=2)
    trace = traced(2, bias=bias, scale=-2.0)
    assert_close(trace.scaled, trace.scores * -2 + bias)
    assert trace.scale == -2
    assert torch.equal(trace.bias, bias.expand(2, 3, 7))
    assert traced().scale == 1 / math.sqrt(5)
    assert traced(scale=root_of_both).scale == 1 / math.sqrt(5 * 11)
    assert_close(traced(scale=0.0).weights, torch.full((3, 7), 1 / 7))


def given_scores(*scores: float, values: Tensor | None = None, **more: Any) -> Trace:
    """Attention of one query with these scores."""
    raw = torch.tensor([scores])
    values = torch.eye(len(scores)) if values is None else values
    nothing = torch.zeros(1, 1), torch.zeros(len(scores), 1)
    return attend(*nothing, values, scores=lambda q, k: raw, **more)


def test_capped_scores_stay_between_cap_and_its_opposite_and_count_in_all_that_follows():
    """3 · tanh(ln 2) is 1.8, since tanh(ln 2) = (4 - 1) / (4 + 1)."""
    trace = given_scores(0.0, 3 * math.log(2), -1000.0, cap=3.0)
    assert_close(trace.logits, torch.tensor([[0.0, 1.8, -3.0]]))
    assert_close(trace.weights, trace.logits.softmax(-1))
    assert trace.logits_name == "capped"
    doubled = replace(trace, scaled=trace.scaled * 2)
    followed = functional.follow(trace, doubled, scores=lambda q, k: trace.scores, cap=3.0)
    assert_close(followed.logits, 3 * (trace.scores * 2 / 3).tanh())


def test_what_is_mixed_before_and_after_the_softmax_is_what_counts():
    """Scores ln 1 and ln 3 are doubled to ln 1 and ln 9; of the weights a half is taken."""
    trace = given_scores(
        0.0,
        math.log(3),
        values=torch.tensor([[10.0], [20.0]]),
        before_softmax=lambda scaled: scaled * 2,
        after_softmax=lambda weights: weights / 2,
    )
    expected = ([1, 3], [1, 3], [1, 9], [0.1, 0.9], [0.05, 0.45])
    assert [*trace.stages] == [name for name in STAGES if name != "erased"]
    for (name, stage), numbers in zip(trace.stages.items(), expected, strict=True):
        made = stage if name in ("weights", "mixed") else stage.exp()
        assert_close(made.flatten(), torch.tensor(numbers, dtype=torch.float32))
    assert trace.logits is trace.mixed_scores
    assert trace.applied is trace.mixed_weights
    assert_close(trace.output, torch.tensor([[0.5 + 9]]))


@each_score
def test_inputs_are_never_changed_in_place(name):
    inputs = [normal(3, D), normal(7, D), normal(7, 11), masks.parse_cells("0:1 1:*", 3, 7)]
    before = [tensor.clone() for tensor in inputs]
    trace = attend(*inputs[:3], scores=score_function(name), mask=inputs[3])
    raw = trace.scores.clone()
    drop(trace, 0.5)
    masked_softmax(trace.scores, inputs[3])
    assert all(map(torch.equal, (*inputs, trace.scores), (*before, raw)))


@each_score
def test_attend_compiles_as_one_graph_and_gives_the_same(name):
    """With a backend that needs no compiler; an empty row takes no branch."""
    scores = score_function(name)
    inputs = normal(2, 3, D), normal(2, 7, D), normal(2, 7, 11)
    torch._dynamo.reset()
    compiled: Any = torch.compile(attend, fullgraph=True, backend="aot_eager")
    some, empty = masks.parse_cells("0:1", 3, 7), masks.parse_cells("0:1 1:*", 3, 7)
    for mask, bias in ((None, None), (some, None), (empty, None), (empty, barring(2))):
        made, expected = (
            each(*inputs, scores=scores, mask=mask, bias=bias) for each in (compiled, attend)
        )
        assert isinstance(made, Trace)
        for step in ("scores", "scaled", "weights", "output"):
            assert_close(getattr(made, step), getattr(expected, step))


def test_a_trace_says_the_shapes_of_its_parts_and_none_of_their_numbers():
    words = repr(replace(traced(2), unrotated=(Q, K)))
    assert words.startswith("Trace(queries=(2, 3, 5), keys=(2, 7, 5), values=(2, 7, 11), ")
    assert "unrotated=((3, 5), (7, 11))" in words
    assert repr(WeightsAlone(traced(2).weights)).startswith("WeightsAlone(queries=(2, 3, 0), ")


@pytest.mark.parametrize(
    ("part_of", "index"),
    [
        (lambda trace: trace.head(3), (slice(None), 3)),
        (lambda trace: trace.sequence(1), (1,)),
        (Trace.detach, ()),
    ],
)
def test_a_part_of_a_trace_is_that_of_every_step(part_of, index):
    mixing: dict[str, Any] = {"before_softmax": torch.neg, "after_softmax": torch.neg}
    trace = traced(2, 5, mask=masks.causal(3, 7), bias=normal(5, 3, 7), **mixing)
    rotated = replace(trace, unrotated=(trace.queries + 1, trace.keys + 1))
    whole = drop(rotated, 0.5, torch.Generator().manual_seed(0))
    part = part_of(whole)
    assert part.scale == whole.scale
    for name in vars(whole).keys() - {"scale", "cap", "weighing", "decay", "strength", "erased"}:
        now, before = getattr(part, name), getattr(whole, name)
        pairs = zip(now, before, strict=True) if isinstance(before, tuple) else [(now, before)]
        assert all(torch.equal(ours, theirs[index]) for ours, theirs in pairs)


def test_steps_that_are_given_are_taken_as_they_are_and_replaced_weights_are_not_dropped():
    whole = traced(2, 5)
    others = {name: getattr(whole, name) + 1 for name in ("scores", "scaled", "weights", "output")}
    given = traced(2, 5, given=others)
    assert all(getattr(given, name) is part for name, part in others.items())
    later = traced(2, 5, given={"weights": others["weights"]})
    assert torch.equal(later.scaled, whole.scaled)
    assert_close(later.output, others["weights"] @ whole.values)
    whole = drop(whole, 0.5, torch.Generator().manual_seed(0))
    after = functional.follow(whole, replace(whole, weights=whole.weights / 2))
    assert after.dropped is None
    assert_close(after.output, whole.weights / 2 @ whole.values)
    kept = functional.follow(whole, replace(whole, values=whole.values + 1))
    assert kept.dropped is whole.dropped
    assert_close(kept.output, whole.applied @ (whole.values + 1))


def test_heads_of_a_group_share_its_keys_also_where_some_are_wanted():
    groups = normal(2, 3, 5, 7)
    shared = functional.share_heads(groups, 6)
    assert torch.equal(shared, groups[:, [0, 0, 1, 1, 2, 2]])
    assert torch.equal(functional.share_heads(groups, 6, slice(1, 4)), shared[:, 1:4])
    assert torch.equal(functional.share_heads(shared, 6, slice(4, 9)), shared[:, 4:])


def dropped(seed: int, dropout: float = 0.3, draws: int = 20_000, **more: Any) -> Trace:
    inputs = [normal(n, d).expand(draws, n, d) for n, d in ((3, 5), (7, 5), (7, 11))]
    return drop(attend(*inputs, **more), dropout, torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("mixed", [False, True])
def test_dropout_zeroes_its_share_of_the_weights_by_the_seed_and_scales_up_the_others(mixed):
    more: dict[str, Any] = {"after_softmax": torch.neg} if mixed else {}
    trace, before = dropped(1, **more), dropped(1, dropout=0.0, **more)
    assert before.dropped is None
    assert_close(trace.weights, before.weights)
    assert trace.applied is trace.dropped
    kept = trace.applied != 0
    assert kept.float().mean().item() == pytest.approx(0.7, abs=0.005)
    assert_close(trace.applied[kept], before.applied[kept] / 0.7)
    assert_close(trace.applied.mean(0), before.applied[0], atol=0.01, rtol=0)
    assert_close(trace.output, trace.applied @ trace.values)
    assert torch.equal(trace.applied, dropped(1, **more).applied)
    assert not torch.equal(trace.applied, dropped(2, **more).applied)


Q, K, V = normal(3, 5), normal(7, 11), normal(7, 5)
SHAPE = r"\(…, queries, keys\) = \(2, 3, 7\)"
REFUSED: dict[str, Callable[[], object]] = {
    r"same width: got \(3, 5\) and \(7, 11\)": lambda: functional.dot_scores(Q, K),
    r"the same width: got \(3, 5\)": lambda: functional.gaussian_scores(Q, K),
    r"queries and keys must have the same width: got": lambda: functional.cosine_scores(Q, K),
    r"got \(3, 13\) and \(7, 11\)": lambda: functional.bilinear_scores(Q, K, normal(5, 13)),
    "sigma must be greater than 0, got 0": lambda: functional.gaussian_scores(Q, V, 0),
    "sigma must be .* than 0, got nan": lambda: functional.gaussian_scores(Q, V, math.nan),
    "each key needs a value: got 7 keys and 3 values": lambda: attend(Q, V, Q),
    rf"scores .* {SHAPE}, got \(2, 3, 3\)": lambda: traced(2, scores=lambda q, k: q @ q.mT),
    rf"scores .* {SHAPE}, got \(3, 7\)": lambda: traced(2, scores=lambda q, k: (q @ k.mT)[0]),
    r"bool \(True = may attend\), got torch.float32": lambda: traced(mask=torch.ones(3, 7)),
    rf"broadcast to {SHAPE}, got \(7, 3\)": lambda: traced(2, mask=CELLS.T),
    rf"to {SHAPE}, got \(5, 1, 3, 7\)": lambda: traced(2, mask=CELLS.expand(5, 1, 3, 7)),
    r"in \[0, 1\), got 1.0": lambda: drop(traced(), 1.0),
    r"in \[0, 1\), got -0.1": lambda: drop(traced(), -0.1),
    r"in \[0, 1\), got nan": lambda: drop(traced(), math.nan),
    "heads must divide d_model = 6, got 4": lambda: functional.split_heads(normal(3, 6), 4),
    "groups must divide heads = 6, got 4": lambda: functional.share_heads(normal(4, 3, 5), 6),
    "head must be one of 5, counted from 0, got -1": lambda: traced(5).head(-1),
    "head must be one of 5, counted from 0, got 5": lambda: traced(5).head(5),
}


@over("message", REFUSED)
def test_what_does_not_fit_is_refused(message):
    with pytest.raises((ValueError, IndexError), match=message):
        REFUSED[message]()
