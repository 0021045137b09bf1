"""Outputs of heads and means of a layer, from what is kept."""

from __future__ import annotations

import pytest
import torch

import attention
from tests.capture.making import OwnAttention, inputs, model


def test_outputs_are_weights_times_values_and_a_layer_has_a_mean():
    with torch.no_grad(), attention.capture(values=True) as run:
        model(OwnAttention(), OwnAttention(key_heads=1, enable_gqa=True))(inputs())
    kept = run.attentions[-1]
    assert run.attention(-1) is kept
    weights = torch.stack([run.weights(-1, head, entry=1) for head in range(3)])
    torch.testing.assert_close(run.mean(-1, entry=1), weights.mean(0))
    torch.testing.assert_close(run.mean("1.mix", 2, entry=1), weights[:, 2:3].mean(0))
    expected = weights[2] @ kept.values[1, 0]
    torch.testing.assert_close(run.output(-1, 2, entry=1), expected)
    with pytest.raises(ValueError, match=r"layer must be one of those kept.*got -3"):
        run.mean(-3)
    with torch.no_grad(), attention.capture() as without:
        model(OwnAttention())(inputs())
    with pytest.raises(ValueError, match="must have values"):
        without.output(0, 0)
