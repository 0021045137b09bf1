"""Recordings in a notebook, as figures."""

from __future__ import annotations

import numpy
import pytest
import torch

import attention
from tests.capture.making import OwnAttention, inputs, model

TOKENS = list("abcdefg")


def recorded(**options):
    with attention.capture(**options) as run:
        model(OwnAttention(is_causal=True), OwnAttention())(inputs())
    return run


def test_all_heads_are_shown_as_their_weights_are():
    run = recorded()
    shown = run.show(TOKENS, entry=1)
    weights = [run.weights(layer, head, entry=1) for layer in (0, 1) for head in range(3)]
    expected = attention.show(torch.stack(weights).view(2, 3, 7, 7), TOKENS, layer="all")
    assert shown.to_dict()["layout"] == expected.to_dict()["layout"]
    for name in ("z", "customdata"):
        numpy.testing.assert_array_equal(shown.data[0][name], expected.data[0][name])


def test_one_head_is_shown_as_its_heatmap(tmp_path):
    run = recorded()
    expected = attention.show(run.weights(1, 2), TOKENS, query=3)
    assert run.show(TOKENS, layer="1.mix", head=2, query=3) == expected
    run.save(tmp_path / "run.safetensors", tokens=TOKENS)
    opened = attention.capture.Recording.open(tmp_path / "run.safetensors")
    assert opened.show(layer=1, head=2, query=3) == expected


def test_layers_and_heads_have_the_numbers_of_the_model_and_what_does_not_fit_is_told():
    (shown,) = recorded(layers=[1], heads=[2]).show(TOKENS).data
    assert (shown.x[0], shown.y[0]) == ("head 2, key a (0)", "layer 1, query a (0)")
    for asked in ({"tokens": TOKENS[:6]}, {"layer": 2}, {"query": 7}):
        with pytest.raises(ValueError, match=r"of a layer, 0 \(7, 7\), 1 \(7, 7\), and query one"):
            recorded().show(**{"tokens": TOKENS} | asked)
