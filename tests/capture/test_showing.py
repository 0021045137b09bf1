"""Recordings in a notebook, as figures."""

from __future__ import annotations

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
    grid, words = run.show(TOKENS, entry=1).scene
    weights = [run.weights(layer, head, entry=1) for layer in (0, 1) for head in range(3)]
    expected, _ = attention.show(torch.stack(weights).view(2, 3, 7, 7), TOKENS, layer="all").scene
    assert int((grid.dots.int() - expected.dots.int()).abs().max()) <= 1  # by the last bit
    assert grid.layer_names == ["layer 0", "layer 1"]
    assert words.text.startswith("7 queries down, 7 keys across. Each square is a weight;")


def test_one_head_is_shown_as_its_heatmap(tmp_path):
    run = recorded()
    expected = attention.show(run.weights(1, 2), TOKENS, query=3)
    assert run.show(TOKENS, layer="1.mix", head=2, query=3) == expected
    run.save(tmp_path / "run.safetensors", tokens=TOKENS)
    opened = attention.capture.Recording.open(tmp_path / "run.safetensors")
    assert opened.show(layer=1, head=2, query=3) == expected


def test_layers_and_heads_have_the_numbers_of_the_model_and_what_does_not_fit_is_told():
    run = recorded(layers=[1], heads=[2])
    assert run.show(TOKENS) == attention.show(run.weights(1, 2), TOKENS)
    for asked in ({"tokens": TOKENS[:6]}, {"layer": 2}, {"query": 7}):
        with pytest.raises(ValueError, match=r"of a layer, 0 \(7, 7\), 1 \(7, 7\), and query one"):
            recorded().show(**{"tokens": TOKENS} | asked)
