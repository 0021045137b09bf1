"""Heads switched off: none is today's run, all of a layer is a run without it."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch
from torch.testing import assert_close

from attention.analysis import switches
from attention.analysis.interventions import means
from attention.analysis.losses_on_corpus import LOSSES_OVER, MEANS_OVER, elsewhere, losses
from attention.analysis.sentences import ANSWERED, SENTENCES
from attention.subjects.model.known_heads import EXAMPLES
from attention.trained.layers import LayerRun
from attention.trained.models import Model
from tests.analysis.conftest import CLOSE, Case, each_model
from tests.trained.packaged import packaged, run_model


def heads_of(model: Model) -> int:
    return model.layers[0].attention.heads


@each_model
def test_with_all_heads_on_the_run_is_the_one_there_was_to_the_bit(case: Case) -> None:
    assert switches.states_without(case.model, case.run, [], switches.by_zero()) is case.run.hidden


@each_model
@torch.no_grad()
def test_all_heads_of_a_layer_off_are_a_run_without_its_attention(case: Case) -> None:
    last = len(case.model.layers) - 1
    off = [(last, head) for head in range(heads_of(case.model))]
    found = switches.states_without(case.model, case.run, off, switches.by_zero())

    def nothing(layer: int, ran: LayerRun) -> LayerRun:
        output = torch.zeros_like(ran.trace.output)
        return ran.edited(trace=replace(ran.trace, output=output))

    expected = case.model.hidden(case.run.batch, edit=nothing, layers=[last])
    assert_close(found, expected, **CLOSE)
    assert (found - case.run.hidden).abs().max() > 1e-4


@pytest.mark.parametrize("case", ["bert"], indirect=True)
def test_their_mean_leaves_the_first_position_of_a_first_layer_as_it_was(case: Case) -> None:
    width = case.run.inputs[0].trace().output.shape[-1]
    mean = [torch.full((heads_of(case.model), 1, width), 3.0)] * len(case.model.layers)
    (change,) = switches.changes([(0, 1), (0, 0)], switches.by_mean(mean))
    assert (change.heads, change.positions) == ([0, 1], slice(1, None))


@each_model
@torch.no_grad()
def test_an_effect_is_the_metric_of_a_run_of_its_own(case: Case) -> None:
    metric, _ = switches.answer_at(case.model, case.run, -1)
    layer, replacement = len(case.model.layers) - 1, switches.by_zero()
    off = [(0, 0)]
    found = switches.layer_effects(case.model, case.run, layer, metric, replacement, off)
    before = metric(switches.states_without(case.model, case.run, off, replacement))
    for head in range(heads_of(case.model)):
        alone = switches.states_without(case.model, case.run, [*off, (layer, head)], replacement)
        assert_close(found[head], metric(alone) - before, atol=1e-5, rtol=1e-4)


# The measured facts that the window opens on


def test_one_head_of_270_carries_paris_and_no_other_sentence_needs_it() -> None:
    model, run = packaged("smollm2"), run_model("smollm2", "The capital of France is")
    there = elsewhere("smollm2")
    metric, _ = switches.answer_at(model, run, -1)
    without = switches.states_without(model, run, [(23, 4)], switches.by_mean(there.means))
    assert float(metric(run.hidden)) == pytest.approx(0.773, abs=1e-3)
    assert 0.12 < float(metric(without)) < 0.15
    assert float(there.losses["mean"][23, 4]) < 0.004


def test_each_answered_example_opens_on_the_head_that_its_answer_loses_most_without() -> None:
    opened = {known.s: (known.layer, known.head) for known in EXAMPLES}
    for name, text in ANSWERED:
        effects = elsewhere(name).effects[text]
        assert float(effects[opened[text]]) == float(effects.min()) < -0.05


def test_two_heads_at_zero_look_like_a_discovery_and_at_their_means_are_none() -> None:
    s = "When Mary and John went to the store, John gave a drink to"
    model, run = packaged("smollm2"), run_model("smollm2", s)
    there = elsewhere("smollm2")
    metric, _ = switches.answer_at(model, run, -1)
    off = [(1, 3), (1, 5)]
    zero, mean = (
        float(metric(switches.states_without(model, run, off, replacement)))
        for replacement in (switches.by_zero(), switches.by_mean(there.means))
    )
    assert zero < 0.07 < 0.9 < mean
    assert float(there.losses["zero"][1, 5]) > 0.2
    assert float(there.losses["mean"][1, 5]) < 0.03


def test_what_is_packaged_recomputes_from_its_sentences() -> None:
    model, there = packaged("minilm"), elsewhere("minilm")
    mean = means(model, SENTENCES[:MEANS_OVER], "output")
    assert_close(torch.stack(there.means), torch.stack(mean), atol=1e-4, rtol=1e-3)
    layer = len(model.layers) - 1
    others = SENTENCES[MEANS_OVER : MEANS_OVER + LOSSES_OVER]
    for way, replacement in (("mean", switches.by_mean(mean)), ("zero", switches.by_zero())):
        found = losses(model, others, replacement, [layer])
        assert len(found) == LOSSES_OVER
        assert_close(there.losses[way][layer], found.mean(0)[0], atol=1e-4, rtol=1e-2)
        error = found.std(0)[0] / math.sqrt(LOSSES_OVER)
        assert_close(there.errors[way][layer], error, atol=1e-4, rtol=1e-2)


@pytest.mark.parametrize(("name", "text"), ANSWERED)
def test_packaged_effects_recompute(name: str, text: str) -> None:
    model, run, there = packaged(name), run_model(name, text), elsewhere(name)
    metric, _ = switches.answer_at(model, run, -1)
    for layer in (len(model.layers) - 1, len(model.layers) - 7):
        found = switches.layer_effects(model, run, layer, metric, switches.by_mean(there.means))
        assert_close(there.effects[text][layer], found, atol=1e-4, rtol=1e-2)
