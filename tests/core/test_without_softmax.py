"""Claims about layers without a softmax: their matrices are their recurrences, to the last digits.

Each recurrence here is written as its paper has it, one token after the other, apart from the core.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from attention.core import masks
from attention.core.analysis import contributions
from attention.core.functional import Trace, attend, hide, share_heads
from attention.core.recurrence import decayed, erased, weights_of_rows
from attention.core.variants import VARIANTS, DeltaRule, Linear, Retention, Variant
from tests.cases import over

WITHOUT = [name for name, variant in VARIANTS.items() if variant.keeps_state]
SIGNED = [name for name in WITHOUT if VARIANTS[name].weighing.signed]
LENGTHS = (1, 2, 11, 512)
HEADS, WIDTH = 3, 21


def numbers(*shape: int, seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


def traced(name: str, tokens: int, **settings: Any) -> tuple[Variant, Trace]:
    """A layer in float64 over random vectors, under the causal mask, at its published scale."""
    variant = VARIANTS[name]
    layer = variant(variant.Config(WIDTH, **({"heads": HEADS} | settings))).double()
    with torch.no_grad():
        return layer, layer(numbers(tokens, WIDTH), masks.causal(tokens, tokens))


def linear(layer: Variant, x: Tensor, head: Trace) -> Tensor:
    """Katharopoulos et al. 2020, eq. 16 to 20."""
    state, norm, outputs = 0.0, 0.0, []
    for q, k, v in zip(head.queries, head.keys, head.values, strict=True):
        q, k = (torch.nn.functional.elu(part) + 1 for part in (q, k))
        state, norm = state + torch.outer(k, v), norm + k
        outputs.append(q @ state / (q @ norm))
    return torch.stack(outputs)


def retention(layer: Variant, x: Tensor, head: Trace) -> Tensor:
    """Sun et al. 2023, eq. 6."""
    state, outputs = torch.zeros(7, 7).double(), []
    for q, k, v in zip(head.queries, head.keys, head.values, strict=True):
        state = head.decay[0].exp() * state + torch.outer(k, v)
        outputs.append(q @ state / 7**0.5)
    return torch.stack(outputs)


def state_space(layer: Variant, x: Tensor, head: Trace) -> Tensor:
    """Mamba-2's reference: h = exp(Δ A) h + Δ B x, y = C h (Dao & Gu 2024, section 3.1)."""
    state, outputs = torch.zeros(7, 7).double(), []
    parts = (head.queries, head.keys, head.values, head.strength)
    for c, b, v, step in zip(*parts, strict=True):
        state = torch.exp(-step * 1.0) * state + step * torch.outer(b, v)
        outputs.append(c @ state)
    return torch.stack(outputs)


def gated_linear(layer: Variant, x: Tensor, head: Trace) -> Tensor:
    """Yang et al. 2023, eq. 3."""
    state, outputs = torch.zeros(7, 7).double(), []
    parts = (head.queries, head.keys, head.values, head.decay)
    for q, k, v, log in zip(*parts, strict=True):
        state = log.exp()[:, None] * state + torch.outer(k, v)
        outputs.append(q @ state / 7**0.5)
    return torch.stack(outputs)


def delta(layer: Variant, x: Tensor, head: Trace) -> Tensor:
    """Schlag et al. 2021, eq. 23 to 25; with a decay Yang et al. 2024, eq. 10."""
    state, outputs = torch.zeros(7, 7).double(), []
    decay = torch.zeros_like(head.strength) if head.decay is None else head.decay
    parts = (head.queries, head.keys, head.values, head.strength, decay)
    for q, k, v, beta, log in zip(*parts, strict=True):
        state = log.exp() * state
        state = state + beta * torch.outer(k, v - k @ state)
        outputs.append(q @ state / 7**0.5)
    return torch.stack(outputs)


RECURRENCES: dict[str, Callable[[Variant, Tensor, Trace], Tensor]] = {
    "linear": linear,
    "retention": retention,
    "state_space": state_space,
    "gated_linear": gated_linear,
    "delta": delta,
    "gated_delta": delta,
}


def test_each_variant_without_a_softmax_has_its_recurrence_here():
    assert list(RECURRENCES) == WITHOUT


@over("name", WITHOUT)
@pytest.mark.parametrize("tokens", LENGTHS)
def test_a_matrix_times_the_values_is_its_recurrence(name, tokens):
    layer, trace = traced(name, tokens)
    for at in range(HEADS):
        head = trace.head(at)
        expected = RECURRENCES[name](layer, numbers(tokens, WIDTH), head)
        assert_close(head.weights @ head.values, expected, atol=1e-12, rtol=1e-12)


@over("name", SIGNED)
def test_weights_are_of_both_signs_and_rows_sum_to_anything(name):
    _, trace = traced(name, 11)
    assert not trace.weights_are_a_distribution
    assert (trace.weights < 0).any()
    assert ((trace.weights.sum(-1) - 1).abs() > 0.01).any()
    assert_close(contributions(trace.head(0), 5).sum(0), trace.head(0).output[5])


@pytest.mark.parametrize("beta", ["0", "0.5", "1"])
@pytest.mark.parametrize("name", ["delta", "gated_delta"])
def test_beta_is_the_share_of_a_value_that_is_replaced(name, beta):
    layer, trace = traced(name, 11, beta=beta)
    expected = delta(layer, numbers(11, WIDTH), trace.head(2))
    assert_close(trace.head(2).output, expected, atol=1e-12, rtol=1e-12)
    assert bool(trace.weights.any()) == (beta != "0")


def test_a_key_that_comes_again_takes_back_all_that_was_written_at_it():
    """Keys e0, e1, e0 with β = 1, a query (1, 1): the first value is gone."""
    keys = torch.tensor([[1.0, 0], [0, 1], [1, 0]])
    scores = torch.ones(1, 3)
    taken = erased(scores, keys, torch.ones(3, 1))
    assert taken.tolist() == [[-1.0, 0.0, 0.0]]
    half = erased(scores, keys, torch.full((3, 1), 0.5))
    assert half.tolist() == [[-0.5, 0.0, 0.0]]
    unseen = erased(scores, keys, torch.ones(3, 1), mask=torch.tensor([[True, True, False]]))
    assert not unseen.any()


@over("erases", [False, True])
@over("tokens", [1, 2, 63, 64, 65, 131])
def test_rows_alone_are_those_of_the_matrix(tokens, erases):
    queries, keys = (numbers(tokens, 5, seed=seed) / 5**0.5 for seed in (1, 2))
    decay = -torch.nn.functional.softplus(numbers(tokens, 1, seed=3))
    strength = numbers(tokens, 1, seed=4).sigmoid()
    mask = masks.causal(tokens, tokens)
    left = decayed(queries @ keys.T, queries, keys, 1.0, decay, mask)
    taken = erased(left, keys, strength, decay, mask) if erases else 0.0
    expected = (left + taken) * strength.T * mask
    gates = decay[:, 0], strength[:, 0]
    for at in (torch.arange(tokens), torch.arange(tokens).flip(0)[::3]):
        made = weights_of_rows(queries[at], at, keys, *gates, erases)
        assert_close(made, expected[at], atol=1e-12, rtol=1e-12)
        first = tokens // 2
        late = weights_of_rows(queries[at], at, keys, *gates, erases, first, chunk=7)
        assert_close(late[:, first:], expected[at][:, first:], atol=1e-12, rtol=1e-12)


def test_a_hidden_key_is_neither_read_nor_erased_by():
    """As if the token had not been there, for the query that may not see it."""
    layer = VARIANTS["gated_delta"](VARIANTS["gated_delta"].Config(WIDTH, heads=HEADS)).double()
    x, seen = numbers(7, WIDTH), torch.tensor([0, 1, 3, 4, 6])
    mask = masks.causal(7, 7)
    mask[:, [2, 5]] = False
    whole = layer(x, mask).output[:, seen]
    alone = layer(x[seen], masks.causal(5, 5)).output
    assert_close(whole, alone, atol=1e-12, rtol=1e-12)


def test_without_a_mask_a_query_asks_after_all_was_read():
    layer = Retention(Retention.Config(WIDTH, heads=HEADS)).double()
    x = numbers(7, WIDTH)
    assert_close(layer(x).output[:, -1], layer(x, masks.causal(7, 7)).output[:, -1])


def test_nothing_forgotten_and_nothing_erased_is_a_sum_of_scores():
    _, trace = traced("retention", 11, decay=1.0)
    plain = trace.scaled * masks.causal(11, 11)
    assert_close(trace.weights, plain)
    relu = Linear(Linear.Config(WIDTH, heads=HEADS, feature_map="relu")).double()
    assert relu.scores(-torch.ones(1, 3), torch.ones(1, 3)).tolist() == [[0.0]]


# transformers' own


@pytest.mark.parametrize("tokens", LENGTHS)
@pytest.mark.parametrize("groups", [1, 2, 6])
@pytest.mark.parametrize("gates", ["random", "zero", "one"])
def test_the_gated_delta_rule_agrees_with_transformers(tokens, groups, gates):
    qwen: Any = pytest.importorskip("transformers.models.qwen3_next.modeling_qwen3_next")
    queries, keys = (numbers(groups, tokens, 5, seed=seed).float() for seed in (1, 2))
    values = numbers(6, tokens, 7, seed=3).float()
    decay = -torch.nn.functional.softplus(numbers(6, tokens, 1, seed=4)).float()
    betas = {"random": numbers(6, tokens, 1, seed=5).sigmoid().float()}
    beta = betas.get(gates, torch.full_like(decay, float(gates == "one")))
    expected, _ = qwen.torch_recurrent_gated_delta_rule(
        *(part.transpose(0, 1)[None] for part in (queries, keys, values)),
        g=decay[..., 0].T[None],
        beta=beta[..., 0].T[None],
        use_qk_l2norm_in_kernel=True,
    )
    q, k = (share_heads(qwen.l2norm(part), 6) for part in (queries, keys))
    trace = attend(
        *(q, k, values),
        mask=masks.causal(tokens, tokens),
        weigh=partial(hide, score=0.0),
        decay=decay,
        strength=beta,
        erases=True,
    )
    assert_close(trace.output, expected[0].transpose(0, 1), atol=1e-5, rtol=1e-5)


def test_the_norm_of_the_delta_rule_is_that_of_transformers():
    qwen: Any = pytest.importorskip("transformers.models.qwen3_next.modeling_qwen3_next")
    layer, x = DeltaRule(DeltaRule.Config(WIDTH, heads=HEADS)), numbers(11, WIDTH).float()
    steps = layer.projection_steps(x, "keys")
    assert_close(steps["normed"], qwen.l2norm(steps["linear"]))


@pytest.mark.parametrize("tokens", LENGTHS)
@pytest.mark.parametrize("groups", [1, 2, 6])
def test_the_state_space_layer_agrees_with_transformers(tokens, groups):
    """Mamba-2's own scan, in chunks, without what it adds of the values themselves."""
    mamba: Any = pytest.importorskip("transformers.models.mamba2.modeling_mamba2")
    values, steps = numbers(6, tokens, 7, seed=3).float(), numbers(6, tokens, 1, seed=4).float()
    keys, queries = (numbers(groups, tokens, 5, seed=seed).float() for seed in (1, 2))
    rates = -torch.arange(1.0, 7)[:, None, None]
    scan = mamba.mamba2_chunk_scan(
        values.transpose(0, 1)[None],
        steps[..., 0].T[None],
        rates.flatten(),
        *(part.transpose(0, 1)[None] for part in (keys, queries)),
        chunk_size=16,
        D=torch.zeros(6),
        dt_bias=torch.zeros(6),
        dt_softplus=True,
    )
    expected = scan[0] if isinstance(scan, tuple) else scan
    step = torch.nn.functional.softplus(steps)
    trace = attend(
        *(share_heads(part, 6) for part in (queries, keys)),
        values,
        scale=1.0,
        mask=masks.causal(tokens, tokens),
        weigh=partial(hide, score=0.0),
        decay=rates * step,
        strength=step,
    )
    found = trace.output.transpose(0, 1).flatten(-2)
    assert_close(found, expected.reshape(tokens, -1), atol=1e-5, rtol=1e-5)
