"""One sequence over another, and padded batches: lengths, padding, and what is worked out."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from attention.core import masks
from attention.core.functional import WeightsAlone, attend
from attention.core.variants import VARIANTS
from attention.core.weighing import SOFTMAX, UNNORMED
from attention.figures.matrix import MatrixError
from attention.pipeline import Settings
from attention.subjects.two_sequences import crossing
from attention.subjects.two_sequences import words as cross_words
from attention.subjects.two_sequences.given import given_batch
from attention.subjects.two_sequences.words import (
    PAD,
    Batch,
    CrossSettings,
    compute_batch,
    pad_batch,
    read_lens,
    read_memories,
)
from tests.cases import over
from tests.properties import given
from tests.properties import settings as hypothesis_settings
from tests.properties import strategies as st
from tests.running import sent_as
from tests.subjects.play.how.making import GOLDENS, drawn, matrices, no_vectors

QUERIES, D_MODEL = 3, 10


def sequence(size: int, seed: int = 0) -> tuple[tuple[str, ...], Tensor]:
    return tuple(f"t{i}" for i in range(size)), drawn(size, D_MODEL, seed=seed)


def batched(
    *sizes: int, lens: str = "", hidden: Tensor | None = None, settings: Settings | None = None
) -> Batch:
    names, x = sequence(QUERIES, 9)
    memories = [sequence(size, index) for index, size in enumerate(sizes)]
    chosen = {} if hidden is None else {"cells": hidden}
    return pad_batch(settings or Settings(), names, x, memories, lens, masks=chosen)


def batch_of(settings: Settings | None = None, /, **asked: Any) -> Batch:
    plain = Settings(vectors="random", d_model=7)
    return compute_batch(settings or plain, CrossSettings(**asked), no_vectors)


NO_LENGTH = "a length is a whole number, got"
NO_LENGTHS = {
    **{"": "there are no lengths yet", ";": "there are no lengths yet"},
    "2": "one length per sequence makes 2, got 1",
    "2 11": "a length lies between 0 and 10, the number of keys, got 11",
    **{f"2 {bad}": f"{NO_LENGTH} {bad!r}" for bad in ("-1", "1.5", "٣", "99999")},
    "1; 2; 3": "the batch has 2 sequences, got lengths for 3",
    "1 2; 3": "one length per query makes 1 per sequence, got 2",
    "1;; 3": f"{NO_LENGTH} ''",
}


@over("text", NO_LENGTHS)
def test_other_lengths_are_refused_in_words(text):
    with pytest.raises(MatrixError) as caught:
        read_lens(text, 2, 1, 10)
    assert str(caught.value) == NO_LENGTHS[text]


@given(text=st.text("0123456789 ;,", max_size=12) | st.text("07 ;,-.|_e²٣\x00é", max_size=12))
@hypothesis_settings(max_examples=150)
def test_any_text_is_lengths_within_the_keys_or_refused(text):
    try:
        lens = read_lens(text, 2, 3, 7)
    except MatrixError:
        return
    assert lens.shape in ((2,), (2, 3))
    assert int(lens.min()) >= 0
    assert int(lens.max()) <= 7


def test_sentences_are_padded_and_their_lengths_are_the_mask():
    batch = batch_of(target="who is it", batch="a b | c d e | ")
    assert batch.queries == ("who", "is", "it")
    assert batch.keys == (("a", "b", PAD), ("c", "d", "e"), (PAD, PAD, PAD))
    assert batch.valid_lens.tolist() == [2, 3, 0]
    assert batch.trace.mask[:, 1].tolist() == [[True, True, False], [True] * 3, [False] * 3]
    assert batch.trace.output[2].abs().sum() == 0
    assert cross_words.heading(batch, 2) == "Sequence 2, “(empty)”: valid length 0 of 3"


def test_the_lengths_of_the_memories_join_the_chosen_masks():
    settings = Settings(
        vectors="random", d_model=7, mask=("causal", "length", "cells"), valid_len=3, cells="2:0"
    )
    batch = batch_of(settings, target="who is it now", batch="a b | c d e f g")
    assert batch.trace.mask.int().tolist() == [
        [[1, 0, 0, 0, 0], [1, 1, 0, 0, 0], [0, 1, 0, 0, 0], [1, 1, 0, 0, 0]],
        [[1, 0, 0, 0, 0], [1, 1, 0, 0, 0], [0, 1, 1, 0, 0], [1, 1, 1, 0, 0]],
    ]
    assert torch.equal(batch.trace.weights > 0, batch.trace.mask)
    words = cross_words.hatching_words(batch)
    assert "hidden by the valid length, the causal mask and the cell mask:" in words
    assert cross_words.hatching_words(batched(7, 7)).startswith("Nothing is hidden: every")
    wrong = batch_of(Settings(vectors="random", mask=("cells",), cells="x"))
    assert (wrong.masks, len(wrong.notes)) == ((), 1)
    assert wrong.notes[0].startswith("No single cells are hidden: hidden cells are written")


def test_a_length_beyond_the_sentence_lets_padding_in_and_says_so():
    batch = batched(2, 7, lens="5 7")
    (note,) = batch.notes
    share = float(batch.trace.weights[0, :, 2:].sum(-1).max())
    assert share > 0
    assert note.startswith(f"The length given for sequence 0 lets padding in: up to {share:.4f} of")
    others = masks.parse_cells("*:2-6", QUERIES, 7)
    assert batched(2, 7, lens="5 7", hidden=others).notes == (), "another mask keeps it out"


def test_a_batch_has_room_for_6_sentences_of_16_tokens():
    memories, notes = read_memories(" | ".join(["cat " * 17] * 8))
    assert [len(tokens) for tokens in memories] == [16] * 6
    assert notes[0] == "Of 8 sentences the first 6 are shown."
    assert notes[1] == "Sequence 0 has 17 tokens; the first 16 are shown."
    assert len(notes) == 7


@over("text", ["", "|", " | | ", "\x00|"])
def test_a_batch_without_a_word_is_none(text):
    assert read_memories(text)[0] == []
    with pytest.raises(ValueError, match="a batch needs a sentence for the queries"):
        batch_of(batch=text)


RECOMPUTED: list[dict[str, Any]] = [
    {"scale": "none", "positions": "alibi"},
    {"variant": "multihead", "mask": ("causal",), "head": 1},
    {"variant": "talking", "mask": ("causal", "window"), "positions": "alibi", "head": 2},
]


@over("settings", RECOMPUTED)
def test_a_number_of_the_output_recomputes_from_its_table(settings):
    batch = batch_of(Settings(vectors="random", d_model=10, **settings), batch="a b | c d e f g")
    mixed = settings.get("variant") == "talking"
    trace = batch.trace
    for index, row, dimension in ((0, 0, 0), (1, 2, 1)):
        work = cross_words.working(batch, index, row, dimension)
        columns: dict[str, Any] = dict(work.columns)
        allowed = trace.mask[index, row].tolist()
        assert f"among the {sum(allowed)} valid keys" in work.text
        logits = columns["mixed, masked" if mixed else "scaled, masked"]
        assert [math.isfinite(number) for number in logits] == allowed
        added = columns.get("added", [0.0] * 5)
        scaled = [s * trace.scale + b for s, b in zip(columns["score"], added, strict=True)]
        for number, shown in zip(scaled, columns.get("scaled", logits), strict=True):
            assert shown == pytest.approx(number, abs=1e-6) or shown == -math.inf
        powers = [math.exp(number - max(logits)) for number in logits]
        assert columns[f"exp({'mixed' if mixed else 'scaled'} − greatest)"] == pytest.approx(powers)
        assert columns["weight"] == pytest.approx([power / sum(powers) for power in powers])
        applied = columns["mixed weight" if mixed else "weight"]
        products = [weight * v for weight, v in zip(applied, columns["v"], strict=True)]
        assert columns["weight · v"] == pytest.approx(products)
        assert work.total == pytest.approx(sum(products), abs=1e-6)
        assert work.total == float(trace.output[index, row, dimension])


@over("variant", VARIANTS)
def test_a_working_tells_of_exponentials_where_there_are_some(variant):
    batch = batch_of(Settings(vectors="random", d_model=10, variant=variant), batch="a b | c d e")
    work, weighing = cross_words.working(batch, 1, 0, 0), batch.trace.weighing
    told = "exponential" in work.text, "exp(scaled − greatest)" in work.columns
    assert told == ((True, variant != "talking") if weighing == SOFTMAX else (False, False))
    assert work.total == pytest.approx(sum(map(float, work.columns["weight · v"])), abs=1e-6)
    kinds = {part.name: part.kind for part in matrices(cross_words.sources(batch, 1))}
    signed = weighing.signed or variant == "talking"
    assert kinds["mixed weights" if variant == "talking" else "weights"] == (
        "signed" if signed else "share"
    )


def test_a_row_of_length_0_shows_what_a_plain_softmax_would_give():
    work = cross_words.working(batched(2, 7, lens="0 6"), 0, 0, 3)
    assert work.total == 0
    assert work.columns["weight"] == [0.0] * 7
    assert all(math.isnan(float(n)) for n in work.columns["plain softmax"])
    (table,) = sent_as(work.content()).header["tables"]
    assert "not a number" in table["lines"][0]


def test_dropout_drops_weights_of_a_batch_and_lets_the_others_grow():
    plain, dropped = batch_of(), batch_of(dropout=0.5)
    trace, weights = dropped.trace, plain.trace.weights
    kept = trace.dropped > 0
    torch.testing.assert_close(trace.dropped[kept], 2 * weights[kept])
    names = [part.name for part in matrices(cross_words.overview(dropped, 0))]
    assert names == ["scaled scores", "weights", "after dropout", "output"]
    assert matrices(cross_words.sources(dropped, 0))[0].name == "after dropout"
    work = cross_words.working(dropped, 1, 0, 2)
    assert work.columns["after dropout"] == trace.dropped[1, 0].tolist()
    assert work.total == pytest.approx(sum(map(float, work.columns["weight · v"])))
    again = batch_of(dropout=0.5, dropout_seed=1).trace.dropped
    assert not torch.equal(again, trace.dropped)


# Links that cross


def test_two_lines_that_cross_are_named_with_their_weights():
    tokens, keys = "abc", "xyz"
    weights = torch.tensor([[0.1, 0.2, 0.7], [0.5, 0.5, 0.0], [0.3, 0.1, 0.6]])
    told = (
        "The lines of “a” and “b” cross: they look at “z” (70 %) and “x” (50 %), which stand the "
        "other way round in the original."
    )
    all_words = torch.tensor(True)
    assert crossing.crossing(tokens, keys, weights, all_words) == told
    # “b” looks most at “y”: that its fainter line to “x” crosses is no order of words
    for share in (0.49, 0.24):
        split = torch.tensor([[0.0, 1.0], [share, 1 - share]])
        assert crossing.crossing(tokens, "xy", split, all_words) == crossing.IN_ORDER
    # the greatest weight lies on a mark, and the word beside it is not the one looked at
    mark = torch.tensor([[0.0, 1.0, 0.0], [0.4, 0.0, 0.6]])
    is_word = torch.tensor([True, True, False])
    assert crossing.crossing(tokens, "xy.", mark, is_word) == crossing.IN_ORDER


COPIED = {"Die Katze </s>": True, "die Maus": True, "o gato </s>": False, "</s>": False}


@over("words", COPIED)
def test_words_that_come_back_as_they_are_are_no_translation(words):
    assert crossing.is_copied(words.split(), ["die", "Katze", "und", "</s>"]) == COPIED[words]


LINKS = {
    ((0.75, 0.25), (0.5, 0.5)): "Most crosses from “c” to “a”, 75 % of its weight.",
    ((0.5, 0.5), (0.125, 0.875)): "Most crosses from “d” to “b”, 88 % of its weight.",
    ((0.0, 0.0), (0.0, 0.0)): crossing.NOTHING,
}
SIGNED = {
    ((0.5, -2.0), (1.0, 0.0)): "“a” takes away most, by its weight of −2.0000 on “d”.",
    ((0.5, 0.0), (1.5, 0.0)): "“b” adds most, by its weight of 1.5000 on “c”.",
    ((0.0, 0.0), (0.0, 0.0)): crossing.NOTHING,
}


@over("weighing", [SOFTMAX, UNNORMED])
def test_the_link_of_the_greatest_weight_is_said_and_if_it_takes_away(weighing):
    for weights, words in (SIGNED if weighing.signed else LINKS).items():
        trace = WeightsAlone(torch.tensor(weights), weighing=weighing)
        assert crossing.strongest("ab", "cd", trace) == words
        if weighing.signed:  # as heads that are mixed after the softmax hand them on
            mixed = attend(*torch.eye(2).expand(3, 2, 2), after_softmax=torch.tensor(weights).mul)
            handed_on = WeightsAlone(mixed.applied, weighing=weighing)
            assert crossing.strongest("ab", "cd", mixed) == crossing.strongest(
                "ab", "cd", handed_on
            )


# A batch of numbers


def given_of(settings: Settings | None = None, /, **texts: Any) -> Batch:
    return given_batch(settings or Settings(), CrossSettings(cross="numbers", **texts))


@over("variant", ["dot", "additive", "gaussian", "cosine", "bilinear", "qkv", "multihead", "delta"])
def test_keys_that_are_alike_give_the_mean_of_the_values_within_the_valid_length(variant):
    """The toy of Dive into Deep Learning, of dot products and of an additive layer alike."""
    published = GOLDENS["d2l_classic_toy"]
    batch = given_of(Settings(variant=variant))
    assert batch.trace.values.tolist() == torch.arange(40.0).view(1, 10, 4).repeat(2, 1, 1).tolist()
    assert batch.valid_lens.tolist() == published["valid_lens"]
    output = torch.tensor(published["output"], dtype=torch.float32)
    torch.testing.assert_close(batch.trace.output, output, atol=published["atol"], rtol=0)
    weights = torch.zeros(2, 1, 10)
    weights[0, 0, :2], weights[1, 0, :6] = 1 / 2, 1 / 6
    torch.testing.assert_close(batch.trace.weights, weights)
    assert len(batch.notes) == (variant in ("qkv", "multihead", "delta"))


def test_queries_keys_and_values_of_ones_own_meet_as_torch_has_them():
    texts = {"given_q": "1 2; 0 1; -1 3 | 2 0; 1 1; 0 0", "given_k": "1 0; 2 1 | 0 1; 1 3"}
    batch = given_of(**texts, given_v="1; 2 | 3; -4.5", given_lens="1 2 2; 2 0 1")
    mask = masks.lengths(torch.tensor([[1, 2, 2], [2, 0, 1]]), 2)
    trace = batch.trace
    torch.testing.assert_close(
        trace.output,
        scaled_dot_product_attention(trace.queries, trace.keys, trace.values, mask).nan_to_num(),
    )
    assert (batch.queries, batch.keys) == (("q0", "q1", "q2"), (("k0", "k1"),) * 2)
    assert cross_words.heading(batch, 1) == "Sequence 1: valid lengths 2, 0, 1 of 2, one per query"
    assert cross_words.outputs(batch) == "Output: 1; 1.6698; 1.8044 | −3.0332; 0; 3"


REFUSED = {
    ("given_q", "1 1"): r"keys must be \(1, keys, 2\), got \(2, 10, 2\)",
    ("given_q", "1 1 1 | 1 1 1"): r"keys must be \(2, keys, 3\), got \(2, 10, 2\)",
    ("given_v", "1; 2 | 3; 4"): r"values must be \(2, 10, d_v\), got \(2, 2, 1\)",
    ("given_k", "1 | 1 2"): r"keys: all matrices of a stack must have one shape",
    ("given_v", "<b>"): r"values: row 0, column 0 holds '<b>'",
    ("given_q", "|".join("1" * 7)): "a batch has at most 6 sequences here, got 7",
}


@over("case", REFUSED)
def test_numbers_that_do_not_fit_together_are_refused_in_words(case):
    with pytest.raises(MatrixError, match=REFUSED[case]):
        given_of(**dict([case]))
