"""Heads that one can break: all that is packaged of them recomputes, and the controls hold."""

from __future__ import annotations

import pytest
from torch.testing import assert_close

from attention.analysis import gallery
from attention.analysis.gallery import Exhibit, Fall, exhibits, fall_without
from attention.analysis.losses_on_corpus import elsewhere
from attention.trained.models import Transformer
from tests.trained.packaged import packaged, run_model

each_exhibit = pytest.mark.parametrize("one", exhibits(), ids=lambda one: one.text[:24])
CLOSE = {"atol": 1e-4, "rtol": 1e-2}


def recomputed(one: Exhibit, text: str, head: tuple[int, int]) -> Fall:
    """The answer to a text without a head of an exhibit's model, by a run of its own."""
    model = packaged(one.model)
    assert isinstance(model, Transformer)
    return fall_without(model, run_model(one.model, text), text, head)


def expect_the_same(found: Fall, packaged: Fall) -> None:
    """Equal words, and probabilities but for rounding."""
    assert (found.text, found.word) == (packaged.text, packaged.word)
    numbers = [(one.before, one.after, one.share) for one in (found, packaged)]
    assert_close(*numbers, **CLOSE)


@each_exhibit
def test_what_is_packaged_of_an_exhibit_recomputes(one: Exhibit) -> None:
    expect_the_same(recomputed(one, one.text, (one.layer, one.head)), one.fall)
    expect_the_same(recomputed(one, one.control.text, (one.layer, one.head)), one.control)
    beside = recomputed(one, one.text, one.next_head)
    assert beside.after == pytest.approx(one.next_after, abs=1e-4)
    run = run_model(one.model, one.text)
    assert run.pieces.texts == one.pieces
    weights = run.inputs[one.layer].trace().weights[one.head, -1]
    assert_close(weights.tolist(), [*one.weights], **CLOSE)


@each_exhibit
def test_no_head_costs_its_answer_more_and_its_control_hardly_anything(one: Exhibit) -> None:
    effects = elsewhere(one.model).effects[one.text]
    head = (one.layer, one.head)
    assert float(effects[head]) == float(effects.min())
    assert one.fall.before + float(effects[head]) == pytest.approx(one.fall.after, abs=1e-4)
    others = effects.flatten().sort().values
    assert one.fall.before + float(others[1]) == pytest.approx(one.next_after, abs=1e-4)
    assert one.half_within == pytest.approx(float(effects.abs().flatten().median()))
    lost, spared = (each.before - each.after for each in (one.fall, one.control))
    assert lost > 0.08
    assert abs(spared) < lost / 10
    assert one.control.instead == one.control.word


def test_without_head_23_3_the_same_word_is_said_again() -> None:
    by_text = {one.text: one for one in exhibits()}
    for text, again in (
        ("The sun rises in the east and sets in the", "·east"),
        ("He turned left and she turned", "·left"),
    ):
        one = by_text[text]
        assert (one.layer, one.head, one.fall.instead) == (23, 3, again)
        assert one.pieces[one.looks_at] == again
        assert one.weights[one.looks_at] > 0.9


def test_only_a_model_whose_heads_have_measured_means_is_exhibited() -> None:
    with pytest.raises(ValueError, match="measured means, got 'grammar'"):
        gallery._elsewhere("grammar")
