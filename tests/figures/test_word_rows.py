"""Rows of numbers in the columns of a sentence."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch

from attention.figures import files
from attention.figures.word_rows import Slider, WordRow, WordRows
from tests.cases import over
from tests.sent import sent_as

TOKENS = ("to", "be", "to")
SCORES = torch.tensor([[0.0, 1, 2], [3, 4, 5], [6, 7, 8]])
WEIGHTS = torch.tensor([[0.25, 0.75, 0]])
ALLOWED = torch.tensor([[True, True, False]])
SCORE, SHARE = WordRow("q · k", SCORES, "score"), WordRow("softmax", WEIGHTS, "share")


def test_rows_are_sent_one_after_the_other_and_masked_numbers_as_none():
    masked = WordRow("softmax", WEIGHTS, "share", "adds up to 1", ALLOWED)
    sent = sent_as(WordRows(TOKENS, (SCORE, masked), "stages", chosen=1).content())
    assert [(row["name"], row["queries"]) for row in sent.header["rows"]] == [
        ("q · k", 3),
        ("softmax", 1),
    ]
    assert sent.numbers[:9].tolist() == [*range(9)]
    assert sent.numbers[9:11].tolist() == [0.25, 0.75]
    assert math.isnan(sent.numbers[11])


def test_its_file_has_a_line_for_each_row_and_query_and_nothing_where_a_mask_hides():
    masked = WordRow("softmax", WEIGHTS, "share", allowed=ALLOWED)
    with files.collecting() as collected:
        WordRows(TOKENS, (SCORE, masked), "stages").offer()
    (file,) = collected
    assert (file.label, file.name) == ("Stages, CSV", "stages.csv")
    assert str(file.make()).splitlines() == [
        ",to (0),be,to (2)",
        '"q · k, to (0)",0.0,1.0,2.0',
        '"q · k, be",3.0,4.0,5.0',
        '"q · k, to (2)",6.0,7.0,8.0',
        "softmax,0.25,0.75,",
    ]


REFUSED: dict[str, Callable[[], WordRows]] = {
    r"row 'a' must be \(1, 3\) or \(3, 3\), got \(1, 2\)": lambda: WordRows(
        TOKENS, [WordRow("a", torch.zeros(1, 2), "share")], "rows"
    ),
    r"allowed of row 'a' must be \(3, 3\), got \(1, 3\)": lambda: WordRows(
        TOKENS, [WordRow("a", SCORES, "score", allowed=ALLOWED)], "rows"
    ),
    r"a slider must lead from scores to shares, got \['share', 'score'\]": lambda: WordRows(
        TOKENS, [SCORE, SHARE], "rows", slider=Slider(0, 2, 0.1, 1, "scale", 1, 0)
    ),
}


@over("message", REFUSED)
def test_a_row_without_a_number_for_each_word_is_refused(message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        REFUSED[message]()


def test_only_rows_and_keys_that_are_there_can_be_chosen():
    rows = WordRows(TOKENS, (SCORE, SHARE), "rows")
    assert [rows.has(row) for row in (-1, 0, 1, 2)] == [False, True, True, False]
    assert [rows.has_cell(cell) for cell in ((1, 2), (1, 3), (2, 0))] == [True, False, False]
