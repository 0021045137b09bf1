"""Teams of heads: each step takes the worst of those tried, and doubts recompute by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from attention.analysis import switches, team
from attention.analysis.interventions import Change
from attention.analysis.losses_on_corpus import (
    LOSSES_OVER,
    MEANS_OVER,
    elsewhere,
    loss_of,
    standard_error,
)
from attention.analysis.sentences import SENTENCES
from attention.analysis.switches import Head, Metric, Replacement
from attention.trained.models import Model, Run
from tests.analysis.conftest import CLOSE, Case, each_model, each_tiny
from tests.properties import given
from tests.properties import strategies as st
from tests.trained.packaged import packaged, run_model


def effects_of(model: Model, run: Run, metric: Metric, replacement: Replacement) -> Tensor:
    """By how much the metric changes without each head alone. (layers, heads)."""
    layers = range(len(model.layers))
    return torch.stack(
        [switches.layer_effects(model, run, layer, metric, replacement) for layer in layers]
    )


def searched(most: int, *given: Any, **how: Any) -> list[team.Found]:
    """The heads whose loss costs most, one after the other. given: as `effects_of` takes it."""
    effects = effects_of(*given)

    def step(found: Sequence[team.Found]) -> team.Found | None:
        return team.next_head(*given, effects, [one.head for one in found], **how)

    return [*team.greedily(most, step)]


def heads_of(case: Case) -> list[Head]:
    count = case.model.layers[0].attention.heads
    return [(layer, head) for layer in range(len(case.model.layers)) for head in range(count)]


@each_model
@torch.no_grad()
def test_a_run_without_heads_goes_on_from_each_of_its_layers(case: Case) -> None:
    off, zero = [(0, 1), (len(case.model.layers) - 1, 0)], switches.by_zero()
    begun = team.run_without(case.model, case.run, off, zero)
    expected = switches.states_without(case.model, case.run, off, zero)
    assert_close(begun.hidden, expected, **CLOSE)
    assert (expected - case.run.hidden).abs().max() > 1e-4
    for layer in range(1, len(begun.inputs)):
        again = case.model.hidden(begun.batch, start=begun.start(layer))
        if layer < len(begun.inputs) - 1:  # the last layer has a head off, which goes on again
            last = [head for head in off if head[0] >= layer]
            again = switches.states_without(case.model, begun, last, zero)
            assert_close(again, expected, **CLOSE)


@each_tiny
@torch.no_grad()
def test_the_metric_beside_others_is_that_of_a_run_of_its_own(case: Case) -> None:
    metric, _ = switches.answer_at(case.model, case.run, -1)
    off, zero = [heads_of(case)[-1], heads_of(case)[1]], switches.by_zero()
    tried = [head for head in heads_of(case)[::-1] if head not in off]
    before, after = team.metrics_beside(case.model, case.run, metric, zero, off, tried)
    alone = [
        float(metric(switches.states_without(case.model, case.run, [*off, *more], zero)))
        for more in ([], *([head] for head in tried))
    ]
    assert [before, *after.tolist()] == pytest.approx(alone, abs=1e-5)


@each_tiny
def test_the_search_over_all_takes_the_head_that_costs_most_beside_those_before(
    case: Case,
) -> None:
    metric, piece = switches.answer_at(case.model, case.run, -1)
    sign, zero = -1 if piece is None else 1, switches.by_zero()
    found = searched(2, case.model, case.run, metric, zero, sign=sign, every=True)
    off: list[Head] = []
    for head, after, tried in found:
        others = [each for each in heads_of(case) if each not in off]
        before, each = team.metrics_beside(case.model, case.run, metric, zero, off, others)
        assert tried == len(others)
        assert sign * after == pytest.approx(float((sign * each).min()), abs=1e-5)
        assert sign * after < sign * before
        off.append(head)
    assert len({head for head, _, _ in found}) == len(found)


@each_tiny
def test_the_estimate_of_an_effect_is_its_slope_for_a_small_step(case: Case) -> None:
    """A replacement a hundredth of the way off: the estimate is the effect, but for its square."""
    metric, piece = switches.answer_at(case.model, case.run, -1)
    if piece is None:
        target = case.other.hidden[-1]
        metric = lambda states: states[..., -1, :] @ target  # noqa: E731

    def nearly(layer: int, heads: Sequence[int]) -> Change:
        output = case.run.inputs[layer].trace().output
        return Change(layer, to=output[[*heads]] * 0.99, heads=heads)

    estimates = team.estimated_effects(case.model, case.run, metric, nearly)
    effects = effects_of(case.model, case.run, metric, nearly)
    scale = float(effects.abs().max())
    assert scale > 0
    assert_close(estimates, effects, atol=0.1 * scale, rtol=0.1)


@given(st.integers(0, 99), st.integers(1, 14), st.sampled_from([1, -1]))
def test_candidates_come_from_both_orders_in_turn_and_none_is_off(
    seed: int, most: int, sign: int
) -> None:
    effects, estimates = torch.randn(2, 3, 5, generator=torch.Generator().manual_seed(seed))
    off = [(0, 1), (2, 4)]
    found = team.candidates(effects, estimates, off, sign, most)
    assert len({*found}) == len(found) == min(most, 13)
    assert not {*found} & {*off}
    heads = [(layer, head) for layer in range(3) for head in range(5)]
    for numbers in (effects, estimates):
        worst = min((head for head in heads), key=lambda head: float(sign * numbers[head]))
        assert worst in found or worst in off or most == 1


teams = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 6)), min_size=1, max_size=6, unique=True
)


@given(teams, st.integers(0, 99))
def test_other_teams_are_of_the_same_layers_and_have_no_head_of_the_team(
    heads: list[Head], seed: int
) -> None:
    found = team.other_teams(heads, 7, seed=seed)
    layers = sorted(layer for layer, _ in heads)
    per_layer = [layers.count(layer) for layer in {*layers}]
    there = math.prod(math.comb(7 - count, count) for count in per_layer)
    assert len({frozenset(other) for other in found}) == len(found) == min(there, team.DRAWS)
    for other in found:
        assert sorted(layer for layer, _ in other) == layers
        assert not {*other} & {*heads}
        assert len({*other}) == len(other)
    assert found == team.other_teams(heads, 7, seed=seed)


# The measured facts that the page shows


ANNA = "Anna met Tom at the park. Anna gave the ball to"
FOUR: list[Head] = [(0, 7), (23, 3), (24, 4), (29, 0)]


def said_without(text: str, off: list[Head]) -> tuple[str, float, float]:
    """The likeliest word without heads, its share, and that of the answer there was."""
    model, run = packaged("smollm2"), run_model("smollm2", text)
    means = switches.by_mean(elsewhere("smollm2").means)
    metric, _ = switches.answer_at(model, run, -1)
    states = switches.states_without(model, run, off, means)
    shares = model.scores(states[-1]).softmax(-1)
    (word,) = model.shown([int(shares.argmax())])
    return word.strip("·"), float(shares.max()), float(metric(states))


def test_four_heads_turn_tom_into_anna() -> None:
    assert said_without(ANNA, []) == (
        "Tom",
        pytest.approx(0.271, abs=2e-3),
        pytest.approx(0.271, abs=2e-3),
    )
    assert said_without(ANNA, FOUR[:1])[2] == pytest.approx(0.006, abs=1e-3)
    assert said_without(ANNA, FOUR[:2])[0] == "Anna"
    assert said_without(ANNA, FOUR)[:2] == ("Anna", pytest.approx(0.928, abs=5e-3))


def test_the_candidates_lead_from_the_first_head_to_the_four_of_the_whole_search() -> None:
    model, run = packaged("smollm2"), run_model("smollm2", ANNA)
    metric, _ = switches.answer_at(model, run, -1)
    means = switches.by_mean(elsewhere("smollm2").means)
    found = searched(4, model, run, metric, means)
    assert [head for head, _, _ in found] == FOUR
    assert [tried for _, _, tried in found] == [270, *[team.CANDIDATES] * 3]


def test_the_four_cost_little_elsewhere_and_chance_takes_as_much_once() -> None:
    model, run = packaged("smollm2"), run_model("smollm2", ANNA)
    there = elsewhere("smollm2")
    means = switches.by_mean(there.means)
    others = SENTENCES[MEANS_OVER : MEANS_OVER + LOSSES_OVER]
    costs = team.cost_elsewhere(model, others, means, FOUR)
    assert float(costs.mean()) == pytest.approx(0.055, abs=3e-3)
    assert float(standard_error(costs)) == pytest.approx(0.042, abs=3e-3)
    apart = model.run(others[4])
    loss = loss_of(model, apart)
    after = loss(switches.states_without(model, apart, FOUR, means))
    assert float(costs[4]) == pytest.approx(float(after - loss(apart.hidden)), abs=1e-4)
    assert float(there.losses["mean"][FOUR[0]]) == pytest.approx(-0.02, abs=6e-3)
    metric, _ = switches.answer_at(model, run, -1)
    chance = team.by_chance(model, run, metric, means, team.other_teams(FOUR, 9))
    points = chance - metric(run.hidden)
    assert len(points) == 20
    assert float(points.min()) < -0.2
    assert float(points.max()) > 0.1


def test_one_head_turns_german_into_spanish_and_no_other_of_its_layer_does() -> None:
    text = "My sister lives in Berlin, so she speaks"
    assert said_without(text, [])[::2] == ("German", pytest.approx(0.176, abs=2e-3))
    assert said_without(text, [(23, 4)])[::2] == ("Spanish", pytest.approx(0.036, abs=2e-3))
    before = said_without(text, [])[2]
    others = [said_without(text, other)[2] for other in team.other_teams([(23, 4)], 9)]
    assert len(others) == 8
    assert all(abs(before - after) <= 0.06 for after in others)
