"""Trained layers: what they add, what hangs on each, and what a model says next."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.testing import assert_close

from attention.analysis import continuing, glances
from attention.analysis import heads as analysed
from attention.analysis import words as joining
from attention.analysis.continuing import SamplingSettings
from attention.core import analysis
from attention.core.functional import LongTrace
from attention.figures import layer_words
from attention.pipeline import Result, Settings, compute, computing
from attention.trained.models import Model, Run
from tests.cases import over
from tests.subjects.play.how.making import no_vectors
from tests.trained.built import writer
from tests.trained.packaged import each_packaged, packaged, run_model

SENTENCE = "she unhappily sat by the river bank"
CLOSE = {"atol": 1e-5, "rtol": 0}


def computed(name: str, **settings: Any) -> Result:
    """Result of a layer of a model over the sentence."""
    packaged(name)
    return compute(Settings(SENTENCE, model=name, **settings), no_vectors, run_model=run_model)


def as_words(result: Result) -> Result:
    return result.looked_at(replace(result.settings, join="words"))


def run_of(name: str) -> tuple[Model, Run]:
    return packaged(name), run_model(name, SENTENCE)


@each_packaged
def test_a_glance_holds_what_the_overview_of_each_of_its_layers_does(name):
    model, run = run_of(name)
    seen = glances.glances(run)
    crossing = [layer.crosses for layer in model.layers]
    assert [glance.layers for glance in seen] == [
        tuple(at for at, crosses in enumerate(crossing) if crosses == kind)
        for kind in dict.fromkeys(crossing)
    ]
    for glance in seen:
        for row, position in enumerate(glance.layers):
            layer_input = run.inputs[position]
            pieces = layer_input.memory_pieces or layer_input.pieces
            known = analysed.Keys(pieces.special, pieces.ids.tolist())
            trace = layer_input.trace()
            one = analysed.overview_of(trace.weights, known, crosses=crossing[position])
            here = slice(row * glance.heads, (row + 1) * glance.heads)
            assert (glance.heads, *glance.shape) == trace.weights.shape
            assert_close(glance.seen.dots[here].int(), one.dots.int(), atol=1, rtol=0)
            assert_close({n: each[here] for n, each in glance.seen.measures.items()}, one.measures)
            assert glance.seen.block == one.block
        assert ("special" in glance.seen.measures) == any(pieces.special)
        assert len(glance.seen.dots) == len(glance.layers) * glance.heads


WHOLE = {
    "[CLS] un ##happi ##ly [SEP]": "[CLS] unhappily [SEP]",
    "·un happi ly </s>": "unhappily </s>",
}
WHOLE |= {"▁un happi ly": "unhappily", "·": "·", "##": "##", "a ##·": "a·", "": ""}


@over("pieces", WHOLE)
def test_words_are_their_pieces_without_the_marks_of_how_these_hang_together(pieces):
    every = pieces.split()
    slots = {5: [0, 1, 1, 1, 2], 4: [0, 0, 0, 1]}.get(len(every), [0] * len(every))
    assert joining.whole_words(every, slots) == tuple(WHOLE[pieces].split())


def test_rows_of_a_word_are_averaged_its_columns_summed_and_masks_joined():
    weights = torch.tensor([[0.5, 0.25, 0.25, 0], [0.125, 0.5, 0.25, 0.125], [0, 0, 0.5, 0.5]])
    joined = analysis.join(weights, [0, 1, 1], [0, 1, 1, 2])
    assert joined.tolist() == [[0.5, 0.5, 0.0], [0.0625, 0.625, 0.3125]]
    assert torch.equal(analysis.join(weights, [0, 1, 2], [0, 1, 2, 3]), weights)
    pieces = torch.tensor([[True, False, False], [True, True, False], [False, False, True]])
    two = joining.Words(("a", "b"), ("a", "b"), [0, 0, 1], [0, 0, 1])
    words = two.of_words(pieces / pieces.sum(-1, keepdim=True), pieces)
    assert words.weights.tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert words.mask.tolist() == [[True, False], [False, True]]


@each_packaged
def test_a_result_is_shown_in_its_pieces_or_as_weights_of_whole_words(name):
    for position in (0, len(packaged(name).layers) - 1):
        result = computed(name, layer=position, head=2)
        assert layer_words.words_of(result) is None
        assert layer_words.shown(result) == (result.tokens, result.key_tokens, result.trace)
        tokens, keys, trace = layer_words.shown(as_words(result))
        assert list(trace.stages) == ["weights"]
        assert trace.weights.shape == (len(tokens), len(keys))
        assert_close(trace.weights.sum(-1), torch.ones(len(tokens)))
        words = [word for word in (keys if result.memory else tokens) if word[0] not in "[<"]
        assert words == SENTENCE.split()
        assert len(keys) < len(result.key_tokens)


@over("settings", [{}, {"mask": ("causal",)}, {"special": "ignored"}])
def test_all_heads_are_joined_into_words_as_each_of_them_is_and_of_a_long_text_the_chosen_word(
    settings,
):
    result = as_words(computed("minilm", layer=2, **settings))
    words = layer_words.words_of(result)
    weights = words.weights_for(result.layer_trace, 0)
    for head in range(result.layer.heads):
        one = layer_words.shown(result.looked_at(replace(result.settings, head=head)))[2]
        assert_close(weights[head], one.weights)
    seen = layer_words.overview(result)
    known = analysed.Keys([word in ("[CLS]", "[SEP]") for word in words.keys], words.keys)
    assert_close(seen.measures, analysed.measures(weights, known))
    assert seen.dots.shape == weights.shape
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(computing, "MAX_KEPT", 1)
        long = as_words(computed("minilm", layer=2, **settings))
        assert isinstance(long.layer_trace, LongTrace)
        for word in range(len(words.tokens)):
            assert_close(words.weights_for(long.layer_trace, word)[:, 0], weights[:, word])
        assert_close(layer_words.overview(long).measures, seen.measures)


@over(
    "query, words, piece",
    [(0, False, 0), (3, False, 3), (77, False, 11), (2, True, 2), (3, True, 6), (77, True, 11)],
)
def test_a_chosen_word_is_looked_at_by_its_first_piece(query, words, piece):
    result = computed("minilm")
    assert result.tokens[1:6] == ("she", "un", "##ha", "##pp", "##ily")
    assert layer_words.piece_at(as_words(result) if words else result, query) == piece


def test_a_sentence_grows_no_longer_than_the_model_takes_and_the_same_with_the_same_seed():
    small, grown = writer(Path(), limit=5), {}
    for seed in 2 * [*range(11)]:
        settings = SamplingSettings(sample_seed=seed)
        longer = continuing.go_on(small, "the cat", 99, settings, likeliest=False)
        pieces = small.pieces(longer)
        assert longer.startswith("the cat")
        assert grown.setdefault(seed, longer) == longer
        assert pieces.left_out == 0
        if len(pieces.ids) == small.limit:
            assert continuing.go_on(small, longer, 1, settings, likeliest=False) == longer
    assert max(len(small.pieces(longer).ids) for longer in grown.values()) == small.limit == 5
    assert len({*grown.values()}) > 1
