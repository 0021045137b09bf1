"""Sentences whose answer a head decides: all that is packaged of them recomputes."""

import pytest
from torch.testing import assert_close

from attention.atlas.exhibits import exhibit, exhibits
from attention.changing.answers import answer_at
from attention.changing.corpus import on_corpus
from attention.changing.known import states_without
from tests.trained.packaged import packaged, run_model

CLOSE = {"atol": 1e-4, "rtol": 1e-2}


@pytest.mark.parametrize("one", exhibits(), ids=lambda one: one.text[:24])
def test_what_is_packaged_of_an_exhibit_recomputes(one):
    run, there = run_model(one.model, one.text), on_corpus(one.model)
    metric, _ = answer_at(packaged(one.model), run, -1)
    states = states_without(packaged(one.model), run, [(one.layer, one.head)], there.means)
    assert_close(
        [float(metric(each)) for each in (run.hidden, states)], [one.before, one.after], **CLOSE
    )
    weights = run.inputs[one.layer].trace().weights[one.head, -1]
    assert_close(weights.tolist(), [*one.weights], **CLOSE)
    assert run.pieces.texts == one.pieces
    lost = one.before - one.after
    assert lost >= 0.8 * -float(there.effects[one.text][..., 0].min()) - 1e-4


def test_only_a_model_whose_effects_are_measured_is_exhibited():
    with pytest.raises(ValueError, match="measured effects, got 'constructed'"):
        exhibit(packaged("constructed"), "the cat")
