"""Associations: every method by hand, and by a second way."""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch.testing import assert_close

from attention.analysis import associations
from attention.analysis.associations import BASELINES, METHODS, Followed, associate
from attention.changing.erasing import mask_of
from attention.core.functional import Trace
from attention.trained.models import Padded
from tests.analysis.conftest import CLOSE, case_of, each_model, each_tiny
from tests.trained.making import of_trace, run_theirs

MINILM = pytest.mark.parametrize("case", ["minilm"], indirect=True)
DECODERS = ["gpt2", "llama"]
each_decoder = pytest.mark.parametrize("case", DECODERS, indirect=True)
each_kind = pytest.mark.parametrize("case", ["bert", *DECODERS, "en-pt"], indirect=True)
HAND = torch.tensor([[[1.0, 0.0], [0.5, 0.5]], [[0.0, 1.0], [0.25, 0.75]]])


# By hand


def test_rollout_multiplies_later_layers_on_the_left():
    """A_1 = [[1, 0], [.25, .75]], A_2 = [[.5, .5], [.125, .875]]; A_2 A_1 is not A_1 A_2."""
    first, second = steps = associations.with_identity(HAND)
    assert_close(first, torch.tensor([[1.0, 0.0], [0.25, 0.75]]))
    assert_close(second, torch.tensor([[0.5, 0.5], [0.125, 0.875]]))
    product = torch.tensor([[0.625, 0.375], [0.34375, 0.65625]])
    assert_close(associations.rolled(steps)[1], product)
    assert not torch.allclose(product, first @ second)


def test_agreement_is_the_mean_over_rows_of_five_keys_weighted_by_their_number():
    """Ranks 1, 2.5, 2.5, 4, 5 against 1 to 5: ties count as ties, 9.5 / √(9.5 · 10)."""
    found, yardstick = torch.zeros(7, 7), torch.zeros(7, 7)
    found[0, 2:], yardstick[0, 2:] = torch.tensor([1.0, 2, 2, 3, 4]), torch.arange(5.0)
    yardstick[0, 1] = torch.nan
    found[6, :6], yardstick[6, :6] = torch.arange(6.0, 0, -1), torch.arange(6.0)

    def agreed(kept: Sequence[int] = range(7), causal: bool = False) -> float:
        return associations.agreement(found, yardstick, kept, causal)

    expected = math.sqrt(0.95)
    assert agreed() == pytest.approx((5 * expected - 6) / 11)
    assert agreed(causal=True) == pytest.approx(-1)
    assert agreed([0, 2, 3, 4, 5, 6]) == pytest.approx((expected - 1) / 2)
    assert math.isnan(agreed([2, 3, 4, 5, 6]))
    found[6] = 1  # of one number alone there is no order
    assert agreed() == pytest.approx(expected)


def test_baselines_ask_for_the_place_of_the_key_alone(checkpoint):
    case = case_of("gpt2", checkpoint)
    followed = Followed(case.model, replace(case.run.pieces, ids=case.run.pieces.ids[:3]))
    found = {name: baseline(followed)[0] for name, baseline in BASELINES.items()}
    assert found["recency"].tolist() == [[1, 0, 0], [1, 2, 0], [1, 2, 3]]
    assert found["nearness"].tolist() == [[3, 0, 0], [2, 3, 0], [1, 2, 3]]
    lengths = case.model.embed(followed.pieces.ids).norm(dim=-1)
    assert_close(found["embedding"], lengths.expand(3, -1).tril())


# Every method


@each_model
def test_every_method_gives_a_number_for_each_pair_on_every_layout(case):
    n_tokens = len(case.run.pieces.ids)
    followed = Followed(case.model, case.run.pieces)
    for name in METHODS:
        found = associate(case.model, case.run.pieces, name)
        assert found.shape == (len(followed.layers), n_tokens, n_tokens), name
        last = found[-1]
        assert last.isfinite().all() or name == "erasure", name
        rows = last[2:, :2]  # all of these see both of these tokens
        assert (rows != rows[:1]).any(), name
        assert not followed.causal or not last.triu(1).nan_to_num().any(), name
        assert float(found.nan_to_num().min()) >= 0, name
        if name in ("raw-mean", "rollout"):
            assert_close(found.sum(-1), torch.ones(found.shape[:-1]), atol=1e-4, rtol=0)
        other = associate(case.model, case.other.pieces, name)[-1]
        assert not torch.allclose(other.nan_to_num(), last.nan_to_num()), name


@MINILM
def test_raw_weights_are_averaged_over_heads_and_the_later_half_of_the_layers(case):
    found = associate(case.model, case.run.pieces, "raw-mean")
    runs = Followed(case.model, case.run.pieces).runs
    for last, layers in ((0, [0]), (2, [1, 2]), (5, [3, 4, 5])):
        weights = [runs[layer].trace.weights.mean(0) for layer in layers]
        assert_close(found[last], torch.stack(weights).mean(0))


@each_tiny
def test_vectors_that_tokens_bring_sum_to_what_attention_adds(case):
    followed = Followed(case.model, case.run.pieces)
    for at, (layer, run) in enumerate(zip(followed.layers, followed.runs, strict=True)):
        _, bias = layer.attention.projection("output")
        without = 0 if bias is None else bias
        assert_close(associations.vectors(followed, at).sum(1), run.attended - without, **CLOSE)
        norm, whole = layer.attention_norms.after, run.middle - without
        expected = whole if norm is None else norm.split(whole, run.middle)
        assert_close(associations.alti.through_norm(followed, at).sum(1), expected, **CLOSE)


@torch.no_grad()
def test_alti_is_that_of_loops_over_the_tensors_of_transformers(checkpoint):
    """A plain second way: one head, one query, one key at a time."""
    case = case_of("bert", checkpoint)
    followed, theirs = Followed(case.model, case.run.pieces), checkpoint("bert").theirs
    run = run_theirs(theirs, case.run.pieces.ids)
    for layer in range(2):
        module = theirs.encoder.layer[layer]
        x, weights = run.hidden_states[layer][0], run.attentions[layer][0]
        values = module.attention.self.value(x)
        dense, norm = module.attention.output.dense, module.attention.output.LayerNorm
        n, width = len(x), values.shape[1] // 3
        raw = torch.zeros(n, n, x.shape[1])
        for head, query, key in itertools.product(range(3), range(n), range(n)):
            own = slice(head * width, (head + 1) * width)
            raw[query, key] += dense.weight[:, own] @ (weights[head, query, key] * values[key, own])
        residual = raw.clone()
        residual[range(n), range(n)] += x
        near = torch.zeros(n, n)
        for query, key in itertools.product(range(n), range(n)):
            total = residual[query].sum(0) + dense.bias
            spread = (total.var(correction=0) + norm.eps).sqrt()
            part = residual[query, key]
            T, y = (part - part.mean()) / spread * norm.weight, norm(total)
            near[query, key] = max(0.0, float(y.abs().sum() - (y - T).abs().sum()))
        expected = (near / near.sum(-1, keepdim=True)).nan_to_num()  # 0 where none is near
        assert_close(associations.alti_steps(followed)[layer], expected, atol=1e-4, rtol=1e-3)


@pytest.mark.parametrize("case", ["bert", *DECODERS], indirect=True)
def test_gradients_are_slopes_of_the_target(case):
    """Finite differences: a weight a little more, a little less."""
    followed = Followed(case.model, case.run.pieces)
    query = len(case.run.pieces.ids) - 2
    _, slopes = associations.gradients(followed, torch.tensor([1, query]))
    size = max(float(each[1].abs().max()) for each in slopes)
    with torch.no_grad():
        for layer, (head, key) in ((0, (1, 1)), (len(slopes) - 1, (2, 2))):

            def at(step: float, layer: int = layer, head: int = head, key: int = key) -> float:
                @of_trace
                def edit(_: int, trace: Any) -> Any:
                    weights = trace.weights.clone()
                    weights[head, query, key] += step
                    return replace(trace, weights=weights)

                runs = case.model.forward(case.run.batch, edit=edit, layers=[layer])
                *_, last = itertools.islice(runs, len(followed.layers))
                return float(followed.target(followed.final(last.output))[query])

            slope = (at(5e-3) - at(-5e-3)) / 1e-2
            assert float(slopes[layer][1, head, query, key]) == pytest.approx(
                slope, rel=3e-2, abs=1e-2 * size
            )


@MINILM
def test_gradient_times_attention_follows_the_rule_of_its_authors(case):
    followed = Followed(case.model, case.run.pieces)
    query = 3
    weights, slopes = associations.gradients(followed, torch.tensor([query]))
    R = torch.eye(weights[0].shape[-1])
    for A, slope in zip(weights, slopes, strict=True):
        R = R + (A[0] * slope[0]).clamp(min=0).mean(0) @ R
    assert_close(associate(case.model, case.run.pieces, "gradient")[-1][query], R[query], **CLOSE)


@each_kind
@torch.no_grad()
def test_erasure_is_a_run_without_the_token(case, monkeypatch):
    """Also where only what comes behind a token is worked out again, some tokens at a time."""
    monkeypatch.setattr(associations.erasing, "TOGETHER", 3)
    followed = Followed(case.model, case.run.pieces)
    mask = mask_of(case.model)
    ids, n_layers = case.run.pieces.ids, len(followed.layers)
    assert (mask is None) == (case.model.about.name != "bert")
    ways = associations.ways_of(case.model)
    assert ways == [*(["masked"] if mask is not None else []), "hidden", "left out"]
    for way, token in itertools.product(ways, (0, 2, 4)):
        found, changed = associations.erased(followed, way), ids.clone()
        rows, edit = [at for at in range(len(ids)) if at != token or way == "masked"], None
        if way == "masked" and mask is not None:
            changed[token] = mask
        if way == "left out":
            changed = ids[rows]
        if way == "hidden":

            def hide(_: int, trace: Trace, token: int = token) -> Trace:
                weights = trace.weights.clone()
                weights[..., token] = 0
                weights = weights / weights.sum(-1, keepdim=True)
                weights[..., token, :] = trace.weights[..., token, :]
                return replace(trace, weights=weights)

            edit = of_trace(hide)

        layers = range(n_layers)
        forward = case.model.forward(Padded(changed), edit=edit, layers=layers)
        runs = [*itertools.islice(forward, n_layers)]
        at = rows if way == "hidden" else slice(None)
        now, was = followed.final(runs[-1].output)[at], followed.hidden[rows]
        expected = 1 - torch.cosine_similarity(now.double(), was.double(), dim=-1).float()
        assert_close(found.states[-1][rows, token], expected, atol=1e-5, rtol=1e-3)
        before, output = followed.runs[0].output[rows].double(), runs[0].output[at].double()
        expected = 1 - torch.cosine_similarity(output, before, dim=-1).float()
        assert_close(found.states[0][rows, token], expected, atol=1e-5, rtol=1e-3)
        fell = ((was - now) * followed.directions[rows]).sum(-1)
        assert_close(found.drops[rows, token], fell, atol=1e-3, rtol=1e-3)
        assert bool(found.states[-1][token, token].isnan()) == (way != "masked")
    first = associations.erased(followed, ways[0]).states
    assert_close(associate(case.model, case.run.pieces, "erasure"), first, equal_nan=True)
    if case.model.about.name in DECODERS:  # asked about two words, how far their difference moves
        found = associate(case.model, case.run.pieces, "erasure", (7, 11))[-1]
        drops = associations.erased(Followed(case.model, case.run.pieces, (7, 11)), "hidden").drops
        assert_close(found, drops.abs(), equal_nan=True)
        assert float(found.nan_to_num().max()) > 1e-3


@MINILM
def test_what_takes_long_says_how_far_it_is_and_stops_where_that_raises(case):
    class Enough(Exception):
        pass

    for name in [name for name, method in METHODS.items() if method.slow]:
        told: list[tuple[int, int]] = []

        def tell(done: int, of: int, told: list[tuple[int, int]] = told) -> None:
            told.append((done, of))
            if len(told) == 2:
                raise Enough

        with contextlib.suppress(Enough):
            associate(case.model, case.run.pieces, name, progress=tell)
        assert told[0][0] == 0
        assert all(done < of for done, of in told), name


@MINILM
def test_what_cannot_be_asked_is_refused(case):
    with pytest.raises(ValueError, match=r"the method must be one of raw-mean, .*, got 'mystery'"):
        associate(case.model, case.run.pieces, "mystery")
    with pytest.raises(ValueError, match="one of these ways: masked, hidden, left out; got 'lost'"):
        associations.erased(Followed(case.model, case.run.pieces), "lost")
