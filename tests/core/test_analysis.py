"""Numbers of a trace recompute from the trace."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch.testing import assert_close

from attention.core import masks
from attention.core.analysis import contributions, entropy_bits, rounding, shares, strongest, table
from attention.core.functional import Trace, attend, drop
from tests.cases import over
from tests.properties import given, settings
from tests.properties import strategies as st


def traced(n_queries: int = 3, n_keys: int = 7, d_v: int = 11, seed: int = 0, **more: Any) -> Trace:
    generator = torch.Generator().manual_seed(seed)
    sizes = ((n_queries, 5), (n_keys, 5), (n_keys, d_v))
    return attend(*(torch.randn(size, generator=generator) for size in sizes), **more)


@given(
    n_queries=st.integers(1, 5),
    n_keys=st.integers(1, 13),
    d_v=st.integers(1, 17),
    seed=st.integers(0, 99),
    dropout=st.sampled_from([0.0, 0.4]),
    mixed=st.booleans(),
)
@settings(deadline=None, max_examples=60)
def test_contributions_sum_to_the_output_and_shares_to_one(
    n_queries, n_keys, d_v, seed, dropout, mixed
):
    generator = torch.Generator().manual_seed(seed)
    mask = torch.rand(n_queries, n_keys, generator=generator) < 0.6
    more = {"after_softmax": torch.sin} if mixed else {}
    trace = drop(traced(n_queries, n_keys, d_v, seed, mask=mask, **more), dropout, generator)
    for query in range(n_queries):
        terms = contributions(trace, query)
        assert terms.shape == (n_keys, d_v)
        assert_close(terms.sum(0), trace.output[query], atol=1e-5, rtol=1e-5)
        assert rounding(trace, query) < 1e-5
        parts = shares(trace, query)
        if not trace.output[query].any():
            assert parts.tolist() == [0] * n_keys
        elif trace.output[query].norm() > 0.05:  # below, the terms cancel and digits are lost
            assert parts.sum().item() == pytest.approx(1, abs=1e-3)


def test_terms_their_signed_shares_and_the_residual_by_hand():
    """Weights 1/4 and 3/4 on values (4, 0) and (0, 4), y = (1, 3); 1/2 each on 3 and -1, y = 1."""
    scores = torch.tensor([[1.0, 3.0]]).log()
    values = torch.tensor([[4.0, 0.0], [0.0, 4.0]])
    nothing = torch.zeros(1, 1), torch.zeros(2, 1)
    trace = attend(*nothing, values, scores=lambda q, k: scores, scale=1.0)
    assert_close(contributions(trace, 0), torch.tensor([[1.0, 0], [0, 3]]))
    assert_close(shares(trace, 0), torch.tensor([0.1, 0.9]))
    assert rounding(trace, 0) == pytest.approx(0, abs=1e-7)
    trace.output[0] += torch.tensor([3.0, 4.0])
    assert rounding(trace, 0) == pytest.approx(5)
    opposed = attend(*nothing, torch.tensor([[3.0], [-1.0]]))
    assert_close(shares(opposed, 0), torch.tensor([1.5, -0.5]))


def test_the_weights_that_count_are_those_that_make_the_output():
    mixed = traced(n_queries=7, after_softmax=torch.neg)
    dropped = drop(mixed, 0.5, torch.Generator().manual_seed(1))
    for trace, weights in ((mixed, mixed.mixed_weights), (dropped, dropped.dropped)):
        assert torch.equal(contributions(trace, 2), weights[2][:, None] * trace.values)
        assert table(trace, 2, list("abcdefg"))["weight"] == weights[2].tolist()
        assert strongest(trace, list("abcdefg"), 2, 7).weights.tolist() == weights[2].tolist()


def test_the_weaker_terms_are_added_up_in_one_row():
    trace, tokens = traced(n_queries=7), list("abcdefg")
    terms = strongest(trace, tokens, 3, most=2)
    weights, parts, every = trace.weights[3], shares(trace, 3), contributions(trace, 3)
    kept, rest = weights.argsort(descending=True)[:2], weights.argsort(descending=True)[2:]
    assert terms.keys == [*(tokens[key] for key in kept), "5 others"]
    assert terms.positions == [*kept.tolist(), None]
    assert_close(terms.terms, torch.vstack([every[kept], every[rest].sum(0)]))
    assert_close(terms.terms.sum(0), trace.output[3])
    assert_close(terms.weights, torch.cat([weights[kept], weights[rest].sum()[None]]))
    assert terms.numbers["score"] == [*trace.scores[3, kept].tolist(), None]
    assert terms.numbers["scaled"] == [*trace.scaled[3, kept].tolist(), None]
    assert terms.numbers["‖v‖"] == [*trace.values[kept].norm(dim=-1).tolist(), None]
    assert terms.numbers["‖w·v‖"] == pytest.approx(terms.terms.norm(dim=-1).tolist())
    shared = [*parts[kept].tolist(), parts[rest].sum().item()]
    assert terms.numbers["share of y"] == pytest.approx(shared)


@over("below", [1.0, 9.0, 12.9, 15.0, 20.0, 60.0])
def test_entropy_near_0_keeps_its_digits(below):
    scores = torch.tensor([[0.0, -below, -below - 2.0], [-below, -below, 0.0]])
    bits = torch.special.entr(scores.double().softmax(-1)).sum(-1) / math.log(2)
    assert entropy_bits(scores.softmax(-1)).tolist() == pytest.approx(bits.tolist(), rel=2e-6)


def test_entropy_by_hand_never_below_zero_and_none_of_a_row_with_nothing_to_attend_to():
    rows = [[1 / 8] * 8, [0.5, 0.5, 0, 0], [0.5, 0.25, 0.25], [0, 1, 0], [1]]
    found = [entropy_bits(torch.tensor([row])).item() for row in rows]
    assert found == pytest.approx([3, 1, 1.5, 0, 0], abs=1e-6)
    assert all(math.copysign(1, bits) == 1 for bits in found), "would be shown as -0.00"
    empty, sure = entropy_bits(torch.tensor([[0.0, 0.0], [0.0, 1.0]])).tolist()
    assert math.isnan(empty)
    assert sure == 0
    rests = torch.tensor([[0.1, 0.1, 0.0], [0.3, 0.1, 0.1], [0.0, 0.4, 0.0]])  # a sink has the rest
    shares_of = rests / rests.sum(-1, keepdim=True)
    assert_close(entropy_bits(rests), entropy_bits(shares_of), atol=1e-6, rtol=0)
    assert entropy_bits(rests)[0].item() == pytest.approx(1, abs=1e-6)


def test_the_table_and_terms_that_have_room_give_a_row_a_key_and_the_numbers_of_the_trace():
    trace, tokens = traced(n_queries=7, mask=masks.parse_cells("2:1 3:*", 7, 7)), list("abcabca")
    weights = trace.weights[2].tolist()
    lengths = [math.hypot(*row) for row in trace.values.tolist()]
    expected: dict[str, list[float]] = {
        "score": trace.scores[2].tolist(),
        "scaled": trace.scaled[2].tolist(),
        "weight": weights,
        "‖v‖": lengths,
        "‖w·v‖": [w * v for w, v in zip(weights, lengths, strict=True)],
        "share of y": shares(trace, 2).tolist(),
    }
    columns = table(trace, 2, tokens)
    assert list(columns) == ["key", *expected]
    assert columns["key"] == tokens
    for name, numbers in expected.items():
        assert columns[name] == pytest.approx(numbers, rel=1e-6 if "v" in name else 0), name
    assert table(trace, 3, tokens)["share of y"] == [0] * 7
    for most in (7, 11):
        terms = strongest(trace, tokens, 2, most)
        assert (terms.keys, terms.positions) == (tokens, list(range(7)))
        assert torch.equal(terms.weights, trace.weights[2])
        assert torch.equal(terms.terms, contributions(trace, 2))
        assert terms.numbers == {name: columns[name] for name in terms.numbers}
