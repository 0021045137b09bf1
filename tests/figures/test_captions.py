"""Hidden cells, in words that say which of the masks hides them."""

import torch

from attention.core import masks
from attention.core.weighing import UNNORMED
from attention.figures.captions import MASK_NAMES, cell_words, mask_bits, sums_words, unshared_words
from attention.figures.result_words import unknown_words
from attention.pipeline import Settings
from attention.pipeline.computing import make_masks
from tests.cases import over

CHOSEN = Settings(mask=("causal", "window", "cells"), radius=2, cells="0:0 2:3")
MASKS, _ = make_masks(CHOSEN, 5, 5)


def test_a_cell_has_words_and_bits_exactly_where_it_is_hidden():
    allowed, bits = masks.combine(MASKS.values()), mask_bits(MASKS, (5, 5))
    for query in range(5):
        for key in range(5):
            assert allowed[query, key] == (cell_words(MASKS, query, key) == "")
            hides = [not mask[query, key] for mask in MASKS.values()]
            assert bits[query, key] == sum(2**bit for bit, hidden in enumerate(hides) if hidden)
    assert not mask_bits({}, (3, 5)).any()
    assert mask_bits({}, (3, 5)).dtype == torch.uint8


def test_each_mask_has_a_name():
    made, _ = make_masks(Settings(mask=tuple(MASK_NAMES)), 3, 5)
    assert made.keys() == MASK_NAMES.keys()


SUMS = {
    "each row adds up to 1": [[0.5, 0.5], [1.0, 0.0]],
    "each row is 0 throughout, since no query may look at anything": [[0.0, 0.0]],
    "each row adds up to 1, or is 0 throughout where a query may look at nothing": [
        [0.5, 0.5],
        [0.0, 0.0],
    ],
    "each row adds up to 0.7500": [[0.5, 0.25], [0.75, 0.0]],
    "the sums of the rows go from −0.5000 to 1.0000": [[-0.75, 0.25], [0.5, 0.5]],
}


@over("words", SUMS)
def test_sums_of_rows_are_told_as_they_are(words):
    assert sums_words(torch.tensor(SUMS[words])) == words
    negative = [[-0.5, 1.5]]
    assert "1 of them is below 0" in unshared_words(torch.tensor(negative), UNNORMED)


def test_of_many_words_without_a_vector_eight_are_named_and_the_others_counted():
    (eight,), (ten,) = (unknown_words(["qqx", *"abcdefghi"[:more], "qqx"]) for more in (7, 9))
    assert "“g”: they" in str(eight)
    assert "“g” and 2 more: they" in str(ten)
