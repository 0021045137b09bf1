"""Each row under the words is a stage of the trace, and leads to the next one."""

from __future__ import annotations

import math

import pytest
import torch
from torch.testing import assert_close

from attention.core.functional import masked_softmax
from attention.core.weighing import SOFTMAX
from attention.figures import word_rows as figures
from attention.subjects.play.how import Computation, StepSettings
from attention.subjects.play.how.rows import stages, word_rows
from tests.cases import over
from tests.subjects.play.how.making import Plain, layer_of
from tests.subjects.play.how.test_steps import RUNS, TOKENS, computed, done

QUERY = 4
HIDDEN = {"cells": torch.ones(TOKENS, TOKENS).bool()}


def names(layer: str, case: str) -> list[str]:
    return [row.name for row in word_rows(done(layer, case), QUERY)]


@over("run", RUNS)
def test_each_row_is_a_stage_of_the_trace_and_follows_from_those_above(run):
    made = done(*run)
    trace = made.trace
    shown = dict(zip(stages(made), word_rows(made, QUERY), strict=True))
    numbers = {name: row.numbers for name, row in shown.items()}
    bias = 0 if trace.bias is None else trace.bias
    expected = {
        "scores": trace.scores,
        "scaled": numbers["scores"] * trace.scale + bias,
        "mixed scores": trace.mixed_scores,
        "masked": trace.logits,
        "erased": trace.erased,
        "weights": trace.weights,
        "mixed weights": trace.mixed_weights,
        "dropout": trace.dropped,
        "output": trace.applied.abs() * trace.values.norm(dim=-1),
    }
    assert_close(numbers, {name: expected[name] for name in numbers})
    if trace.weighing == SOFTMAX:
        assert_close(numbers["weights"], masked_softmax(trace.logits, trace.mask))
    assert_close(trace.applied @ trace.values, trace.output)
    if "masked" in shown:
        assert torch.equal(shown["masked"].masked.isnan(), ~trace.mask)
    sums = trace.weights.sum(-1)
    if shown["weights"].beside:
        assert_close(sums, torch.ones(TOKENS))
    for row in shown.values():
        if row.kind == "share":
            assert float(row.numbers.min()) >= 0


def test_a_pencil_comes_to_the_same_rows():
    x = torch.tensor([[1.0, 0.0], [0.0, 2.0]])
    layer = Plain(Plain.Config(d_model=2))
    run = Computation(layer, layer(x, scale=0.5), ["one", "two"], x, StepSettings())
    e = math.exp(2)  # of the score 4, times ½
    by_hand = {
        "score": [0, 4],
        "× 0.5": [0, 2],
        "softmax": [1 / (1 + e), e / (1 + e)],
        "weight × ‖value‖": [1 / (1 + e), 2 * e / (1 + e)],
    }
    shown = {row.name: row.numbers[1].tolist() for row in word_rows(run, 1)}
    assert shown == {name: pytest.approx(row) for name, row in by_hand.items()}


@over(
    "layer, settings, expected",
    [
        ("qkv", "plain", ["query · key", "× 1/√3", "softmax"]),
        ("qkv", "masked and dropped", ["query · key", "× 3", "mask", "softmax", "dropout 0.5"]),
        ("additive", "plain", ["tanh, v", "softmax"]),
        ("gaussian", "plain", ["distance", "softmax"]),
        ("talking", "plain", ["query · key", "mix heads", "softmax", "mix heads"]),
        ("dot", "alibi", ["query · key", "+ ALiBi", "mask", "softmax"]),
        ("linear", "plain", ["query · key", "÷ sum"]),
        ("gated_delta", "plain", ["query · key", "× 1/√3", "decay", "erase", "weights"]),
    ],
)
def test_a_row_has_the_name_of_its_operation_and_what_does_nothing_has_no_row(
    layer, settings, expected
):
    assert names(layer, settings) == [*expected, "weight × ‖value‖"]
    idle = computed(layer_of(layer, 12), scale=1.0, hidden=HIDDEN)
    there = [row.name for row in word_rows(idle, QUERY)]
    assert not {"× 1", "mask", "dropout 0"} & {*there}


def test_beside_a_row_stands_only_what_is_so():
    assert [row.beside for row in word_rows(done("qkv"), 0)] == [
        *("d_k = 3", "× 0.577", "adds up to 1", "")
    ]
    told = {row.name: row.beside for row in word_rows(done("qkv", "all hidden"), 0)}
    assert told["softmax"] == "", "a row with nothing to look at adds up to 0"
    assert word_rows(done("talking"), 0)[-2].kind == "signed", "a mixed weight may lie below 0"


def test_of_many_words_the_chosen_row_alone_is_sent(monkeypatch):
    whole = word_rows(done("qkv"), QUERY)
    monkeypatch.setattr(figures, "MAX_SENT", 100)
    for one, row in zip(word_rows(done("qkv"), QUERY), whole, strict=True):
        assert torch.equal(one.numbers, row.numbers[QUERY : QUERY + 1])
