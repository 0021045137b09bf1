"""A text too long to see all weights at once: its layers, and weights of any part, as usual."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from attention.core.functional import LongTrace
from attention.core.limits import MAX_SEEN
from attention.core.positions import Rotary
from attention.figures.head_map import HeadMap
from attention.pipeline import Result, Settings
from attention.pipeline.computing import computed
from attention.pipeline.long_texts import layer_input, products, states, takes_long_texts
from attention.pipeline.preparing import into_layer
from attention.subjects.model.long_text_runs import live_run
from attention.trained.layers import ALL, KnownLayer, TrainedAttention
from attention.trained.models import Padded, Transformer
from attention.trained.parts import Norms
from tests.trained.built import HEADS, LAYERS, offer, writer

PIECES = 601
TEXT = "the cat ran " * PIECES


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Transformer:
    made = writer(tmp_path, PIECES)
    offer(made, monkeypatch)
    return made


def result_of(model: Transformer, layer: int = 1, **more: Any) -> Result:
    pieces = model.all_pieces(TEXT)
    x = model.embed(pieces.ids)
    for at, state in enumerate(states(model, x), 1):
        x = state if at <= layer else x
    settings = Settings("the", "writer", layer, **more)
    return computed(settings, into_layer(settings, layer_input(model, pieces, layer, x), layer, 2))


def test_a_sentence_is_cut_to_what_is_seen_and_a_text_to_what_the_model_takes(model):
    assert takes_long_texts(model)
    whole, seen = model.all_pieces(TEXT), model.pieces(TEXT)
    assert (len(whole.ids), len(seen.ids)) == (PIECES, MAX_SEEN)
    assert whole.left_out + PIECES == seen.left_out + MAX_SEEN
    assert torch.equal(whole.ids[:MAX_SEEN], seen.ids)


def test_layers_give_what_they_give_with_all_weights_kept(model):
    pieces = model.all_pieces(TEXT)
    whole = [run.output for run in model.forward(Padded(pieces.ids))]  # gradients keep all
    sparing = [*states(model, model.embed(pieces.ids))]
    assert len(sparing) == len(whole) == LAYERS
    for state, expected in zip(sparing, whole, strict=True):
        assert_close(state, expected, atol=1e-5, rtol=1e-5)
    (again,) = states(model, sparing[0], 1)
    assert torch.equal(again, sparing[1])


@pytest.mark.parametrize("how", [{}, {"rotary": Rotary(), "scale": 0.3}], ids=str)
@pytest.mark.parametrize(("causal", "window"), [(True, None), (True, 7), (False, 7), (False, None)])
def test_rows_of_a_long_text_give_the_output_of_the_whole(how, causal, window):
    generator = torch.Generator().manual_seed(3)

    def drawn(*shape: int) -> Tensor:
        return torch.randn(shape, generator=generator)

    d_model, heads, groups, width, tokens = 7, 6, 3, 4, 599
    parameters = {"W_q": drawn(d_model, heads * width), "W_o": drawn(heads * width, d_model)}
    parameters |= {f"W_{letter}": drawn(d_model, groups * width) for letter in "kv"}
    attention = TrainedAttention(heads, parameters, **how)
    layer = KnownLayer(attention, Norms(), None, Norms(), causal=causal, window=window)
    projected = layer.projected(drawn(tokens, d_model))
    assert layer.is_long(projected)
    whole = layer.sliced_of(projected)(ALL, ALL).output
    assert_close(layer.outputs_in_rows(projected), whole, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"scale": "none", "mask": ("window", "length"), "radius": 5, "valid_len": 577},
        {"positions": "alibi", "trained_mask": "removed"},
        {"positions": "rotary", "special": "ignored", "mask": ("cells",), "cells": "9:0-3,5"},
    ],
    ids=str,
)
def test_any_part_of_the_map_has_the_weights_of_the_layer_as_it_is_set(model, settings):
    result = result_of(model, **settings)
    assert isinstance(result.layer_trace, LongTrace)
    run = live_run(result)
    count = PIECES - (settings.get("special") == "ignored")
    assert run.attentions[0].shape == (1, HEADS, count, count)
    assert len(run.tokens or ()) == count
    for head in range(HEADS):
        whole = result.layer_trace.sliced(ALL, slice(head, head + 1)).weights[0]
        assert whole.shape == (count, count)
        assert_close(run.weights(1, head), whole, atol=1e-5, rtol=1e-5)
        shown = HeadMap(run, 1, head)
        assert_close(shown.row(count - 1), whole[-1], atol=1e-5, rtol=1e-5)
        assert_close(shown.weights(2, 1), whole[128:192, 64:128], atol=1e-5, rtol=1e-5)


def test_the_work_of_a_text_grows_with_its_layers_and_faster_than_its_length(model):
    one = products(model, PIECES, 1)
    assert products(model, PIECES, 2) == 2 * one
    # 4 matrices of 15 by 15 and 2 of 15 by 11, then two products of 15 with half of all keys
    assert one == PIECES * (4 * 225 + 2 * 165 + 15 * PIECES)
