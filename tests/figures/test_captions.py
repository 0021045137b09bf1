"""Hidden cells, in words that say which of the masks hides them."""

from __future__ import annotations

import torch

from attention.core import masks
from attention.figures.captions import (
    EMPTY_ROW,
    MASK_NAMES,
    cell_words,
    mask_bits,
    row_words,
)
from attention.pipeline import Settings
from attention.pipeline.computing import make_masks

TOKENS = ["a", "b", "<b>", "d", "e"]
CHOSEN = Settings(mask=("causal", "window", "cells"), radius=2, cells="0:0 2:3")
MASKS, _ = make_masks(CHOSEN, 5, 5)


def test_a_cell_has_words_and_bits_exactly_where_it_is_hidden() -> None:
    allowed, bits = masks.combine(MASKS.values()), mask_bits(MASKS, (5, 5))
    assert allowed is not None
    for query in range(5):
        for key in range(5):
            assert allowed[query, key] == (cell_words(MASKS, query, key) == "")
            hides = [not mask[query, key] for mask in MASKS.values()]
            assert bits[query, key] == sum(2**bit for bit, hidden in enumerate(hides) if hidden)
    assert not mask_bits({}, (3, 5)).any()
    assert mask_bits({}, (3, 5)).dtype == torch.uint8


def test_a_row_says_how_much_of_it_each_mask_hides_and_an_empty_one_what_that_means() -> None:
    causal = {"causal": MASKS["causal"]}
    hidden = "the causal mask hides 2 and the cell mask hides 1"
    assert row_words(MASKS, 2, TOKENS) == f"“<b>” may look at 3 of 5 keys: {hidden}."
    assert row_words(causal, 4, TOKENS) == ""
    assert row_words({}, 0, TOKENS) == ""
    words = row_words(MASKS, 0, TOKENS)
    assert words.startswith("“a” may look at nothing: of 5 keys the causal mask hides 4, ")
    assert words.endswith(EMPTY_ROW)
    assert "its weights and its output are 0" in EMPTY_ROW
    made, _ = make_masks(Settings(mask=tuple(MASK_NAMES)), 3, 5)
    assert made.keys() == MASK_NAMES.keys()
