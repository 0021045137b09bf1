"""The way of a sentence into a layer of a trained model, from settings to what pages show."""

from __future__ import annotations

import copy
import runpy
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch.testing import assert_close
from torchtext.vocab import Vectors

from attention.core.functional import LongTrace
from attention.core.positions import Rotary, alibi, sinusoidal
from attention.figures.script import pytorch_script
from attention.pipeline import Result, Settings, compute
from attention.trained import sources
from attention.trained.models import LayerInput, Run
from tests.cases import parts_of
from tests.trained.making import Checkpoint
from tests.trained.packaged import packaged, read, run_model

SENTENCE = "she unhappily sat by the river bank"


def no_vectors(name: str) -> Vectors:
    pytest.fail(f"asked for the vectors {name}")


def computed(
    name: str, run: Callable[[str, str], Run] = run_model, **settings: Any
) -> tuple[Result, LayerInput]:
    """Result of a layer of a model, and what enters it."""
    packaged(name)
    values = Settings(**{"s": SENTENCE} | settings, model=name)
    result = compute(values, no_vectors, run_model=run)
    return result, run(name, values.s).inputs[result.trained.position]


Own = Callable[[str], str]
each_packaged = pytest.mark.parametrize("name", ["minilm", "en-pt", "smollm2"])


def some_layers(name: str) -> list[int]:
    """The first layer and the last two: of a translator an encoder's and a decoder's."""
    count = len(packaged(name).layers)
    return [0, count - 2, count - 1]


@pytest.fixture
def own(checkpoint: Callable[[str], Checkpoint], monkeypatch: pytest.MonkeyPatch) -> Own:
    """Gives a tiny model of a family a place in the menu, and says its name there."""

    def named(family: str) -> str:
        monkeypatch.setattr(sources, "_OWN", sources.OwnModels())
        monkeypatch.setenv(sources.OWN_MODELS_VARIABLE, str(checkpoint(family).folder))
        sources.fetch()
        return sources.names()[-1]

    read.cache_clear()
    run_model.cache_clear()
    return named


@pytest.fixture
def gpt(own: Own) -> str:
    """The name of a tiny model that goes on writing: causal, its norms before its attention."""
    return own("gpt2")


# What enters, and what comes of it


@each_packaged
def test_what_enters_a_layer_is_what_its_attention_gets_and_its_trace_is_its_own(name):
    for position in some_layers(name):
        layer = packaged(name).layers[position]
        result, layer_input = computed(name, layer=position)
        trained = result.trained
        assert (trained.layer, trained.position, trained.cut) == (layer, position, ())
        assert trained.of == len(packaged(name).layers)
        assert torch.equal(result.x, layer.attention_input(layer_input.x))
        assert result.vectors is result.x
        pieces = layer_input.pieces
        assert (result.tokens, result.groups) == (pieces.texts, pieces.words)
        assert result.known == (True,) * len(result.tokens)
        assert (result.notes, result.changes, result.words, result.encoding) == ([], [], None, None)
        assert (result.memory is None) == (not layer.crosses)
        if result.memory is not None:
            assert result.memory.x is layer_input.memory
            assert result.key_tokens == layer_input.memory_pieces.texts
        assert_close(
            parts_of(result.layer_trace), parts_of(layer.trace(layer_input.x, layer_input.memory))
        )
        sums = result.layer_trace.weights.sum(-1)
        assert_close(sums, torch.ones(layer.attention.heads, len(result.tokens)))


def test_beyond_the_last_layer_head_or_piece_the_last_is_shown_and_it_is_told():
    result, _ = computed("en-pt", layer=63, head=49)
    assert result.notes == [
        "There is no layer 63 of 8; showing the last.",
        "There is no head 49 of 8; showing the last, 7.",
    ]
    last, _ = computed("en-pt", layer=7)
    assert torch.equal(result.trace.weights, last.layer_trace.weights[-1])
    result, _ = computed("minilm", s="cat " * 600)
    assert (len(result.tokens), result.left_out) == (512, 600 + 2 - 512)
    assert isinstance(result.layer_trace, LongTrace), "12 heads of 512² are too many to keep"
    assert result.trace.weights.shape == (512, 512)


@pytest.mark.parametrize("family", ["bert", "gpt2", "llama stretched", "mistral", "qwen3"])
def test_the_script_of_a_layer_of_any_layout_gives_its_numbers(own, family, tmp_path):
    for settings in ({}, {"positions": "rotary", "mask": ("length",), "head": 1}):
        result, _ = computed(own(family), layer=1, **settings)
        script = tmp_path / "attention_here.py"
        script.write_text(pytorch_script(result), "utf-8")
        found = runpy.run_path(str(script))
        assert_close(parts_of(found["layer_trace"]), parts_of(result.layer_trace))
        output = result.layer.output(result.layer_trace)
        assert_close(found["layer_output"], output, atol=1e-5, rtol=1e-5)


def test_a_layer_rotates_by_itself_once_until_its_rotation_is_removed(own):
    name = own("llama")
    result, layer_input = computed(name, layer=1)
    turns, trace = layer_input.layer.attention.rotary, result.layer_trace
    assert turns == Rotary(10000.0, halves=True)
    assert_close(parts_of(trace), parts_of(layer_input.trace()))
    for before, after in zip(trace.unrotated, (trace.queries, trace.keys), strict=True):
        assert_close(after, turns(before))
        assert not torch.allclose(after, before)
    again, _ = computed(name, layer=1, positions="rotary")
    assert_close(parts_of(again.layer_trace), parts_of(trace))
    assert again.changes == [], "it rotates as it was trained"
    added, _ = computed(name, layer=1, positions="alibi")
    assert added.changes == ["positions: alibi"]
    bias = alibi(*trace.weights.shape)
    assert_close(added.layer_trace.scaled, trace.scaled + bias)
    placed, _ = computed(name, layer=1, positions="sinusoidal")
    assert_close(placed.x, result.x + sinusoidal(*result.x.shape))
    assert torch.equal(placed.vectors, result.x)

    removed, _ = computed(name, layer=1, trained_positions="removed")
    assert removed.changes == ["the model's own positions: removed"]
    queries, keys = trace.unrotated
    assert removed.layer_trace.unrotated is None
    assert_close((removed.layer_trace.queries, removed.layer_trace.keys), (queries, keys))
    assert_close(removed.layer_trace.scores, queries @ keys.mT)
    assert torch.equal(removed.x, result.x), "what enters the layer is as it was trained"


def test_a_trained_layer_has_the_scale_and_the_window_it_was_trained_with(gpt):
    run = run_model(gpt, SENTENCE)
    layer_input = run.inputs[1]
    attention = copy.copy(layer_input.layer.attention)
    attention.config = replace(attention.config, scale=0.7)
    layer = replace(layer_input.layer, attention=attention, window=1)
    other = replace(run, inputs=(run.inputs[0], replace(layer_input, layer=layer)))

    result, _ = computed(gpt, lambda name, text: other, layer=1)
    assert list(result.masks) == ["causal", "window"]
    assert result.layer_trace.scale == 0.7
    assert result.changes == []
    assert_close(parts_of(result.layer_trace), parts_of(layer.trace(layer_input.x)))
    chosen, _ = computed(gpt, lambda name, text: other, layer=1, mask=("window",), radius=9)
    assert torch.equal(chosen.masks["window"], result.masks["window"]), "both hide what they hide"
    removed, _ = computed(gpt, lambda name, text: other, layer=1, trained_mask="removed")
    assert (removed.masks, removed.changes) == ({}, ["the model's own mask: removed"])
    rescaled, _ = computed(gpt, lambda name, text: other, layer=1, scale="none")
    assert rescaled.layer_trace.scale == 1.0


@each_packaged
def test_special_tokens_set_aside_leave_their_weight_to_the_others_in_proportion(name):
    for position in some_layers(name):
        aside, layer_input = computed(name, layer=position, special="ignored")
        whole, _ = computed(name, layer=position)
        keys = layer_input.memory_pieces or layer_input.pieces
        rows, columns = (pieces.kept(aside=True) for pieces in (layer_input.pieces, keys))
        assert not aside.special.count(True)
        if any(keys.special):
            assert columns == [at for at, special in enumerate(keys.special) if not special]
        else:
            assert columns == [*range(1, len(keys.ids))], "the first, an attention sink"
        assert aside.tokens == tuple(whole.tokens[row] for row in rows)
        left = whole.layer_trace.weights[:, rows][..., columns]
        assert_close(
            aside.layer_trace.weights * left.sum(-1, keepdim=True), left, atol=1e-5, rtol=1e-4
        )
        assert_close(aside.layer_trace.weights.sum(-1), torch.ones(left.shape[:2]))
        assert_close(aside.x, whole.x[rows])
        names = [whole.tokens[at] for at in range(len(whole.tokens)) if at not in rows]
        names += [text for at, text in enumerate(keys.texts) if at not in columns]
        assert all(name in aside.ignored for name in names)
        assert ("first token" in aside.ignored) == (not any(keys.special))
        assert aside.changes == [f"without {aside.ignored}"]


@each_packaged
def test_heads_cut_out_add_nothing_and_the_others_what_they_did(name):
    for position in some_layers(name):
        whole, layer_input = computed(name, layer=position)
        attention = layer_input.layer.attention
        before = attention.W_o.clone()
        (note,) = computed(name, layer=position, cut="0,x")[0].notes
        assert note.endswith("; no head is cut out.")
        changed, _ = computed(name, layer=position, cut=" 3 0,,0 77")
        assert_close(parts_of(changed.layer_trace), parts_of(whole.layer_trace))
        parts = whole.layer.head_outputs(whole.layer_trace)
        kept = parts.clone()
        kept[[0, 3]] = 0
        assert_close(changed.layer.head_outputs(changed.layer_trace), kept)
        expected = whole.layer.output(whole.layer_trace) - parts[0] - parts[3]
        assert_close(changed.layer.output(changed.layer_trace), expected, atol=1e-4, rtol=1e-4)
        assert changed.trained.cut == (0, 3)
        assert changed.changes == ["heads cut out: 0, 3"]
        assert changed.notes == [f"There is no head 77 of {len(parts)} to cut out."]
        assert torch.equal(attention.W_o, before)
        assert packaged(name).layers[position].attention is attention is whole.layer


def test_the_mask_a_model_was_trained_with_is_one_of_the_masks_until_it_is_removed(gpt):
    kept, layer_input = computed(gpt)
    ahead = torch.ones(len(kept.tokens), len(kept.tokens)).triu(1) > 0
    assert list(kept.masks) == ["causal"]
    assert torch.equal(kept.layer_trace.weights == 0, ahead.expand(3, -1, -1))
    assert kept.changes == []

    removed, _ = computed(gpt, trained_mask="removed")
    assert (removed.masks, removed.layer_trace.mask) == ({}, None)
    assert_close(removed.layer_trace.weights, kept.layer_trace.scaled.softmax(-1))
    assert removed.changes == ["the model's own mask: removed"]
    assert torch.equal(removed.x, kept.x), "what enters the layer is as it was trained"

    again, _ = computed(gpt, trained_mask="removed", mask=("causal",))
    assert_close(parts_of(again.layer_trace), parts_of(layer_input.trace()))
    assert list(computed(gpt, mask=("causal", "length"))[0].masks) == ["causal", "length"]
    assert list(computed(gpt, mask=("length",))[0].masks) == ["causal", "length"]


@pytest.mark.parametrize(
    ("settings", "changes"),
    [
        ({}, []),
        ({"head": 5, "layer": 1, "join": "words", "seed": 3, "factor": 2.0}, []),
        ({"scale": "none"}, ["scale: none"]),
        ({"scale": "factor", "factor": 0.35}, ["scale: 0.35"]),
        ({"mask": ("causal", "window")}, ["masks: causal, window"]),
        ({"positions": "rotary"}, ["positions: rotary"]),
        ({"cut": "77", "trained_positions": "removed", "trained_mask": "removed"}, []),
        (
            {"cut": "7,2", "special": "ignored", "positions": "alibi"},
            ["positions: alibi", "without the markers [CLS] and [SEP]", "heads cut out: 2, 7"],
        ),
    ],
)
def test_a_result_says_what_is_not_as_it_was_trained(settings, changes):
    assert computed("minilm", **settings)[0].changes == changes
