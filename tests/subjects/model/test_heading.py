"""The claim above the map of heads, held to the effects of all heads."""

from __future__ import annotations

from dataclasses import replace

import pytest

from attention.atlas.deciding import Deciding
from attention.atlas.sentences import quoted
from attention.subjects.model import head_sentences
from attention.subjects.model.answers import Answered
from tests.cases import over
from tests.trained.packaged import packaged


def answered(kind: str = "piece", word: str = "west", share: float = 0.97) -> Answered:
    return Answered(kind, 4, word, share, share)


ONE = Deciding((1, 2), (((1, 2), 0.5),), True, (((1, 2), ()),))
MEAN_ALONE = replace(ONE, tests=(((1, 2), ("zero", "others")),))
UNTESTED = replace(ONE, tests=())
TWO = Deciding((1, 2), (((1, 2), 0.5), ((2, 3), 0.45), ((0, 1), 0.42)), True, (((1, 2), ()),))
SECOND = replace(TWO, head=(0, 1))
NONE = Deciding((1, 2), (((1, 2), 0.05),), False)
NO_TWO = Deciding((1, 2), (((1, 2), 0.05), ((2, 3), 0.04)), False)
TITLES = {
    ("piece", "west", 0.97, None): "Which of 72 heads decides “west”?",
    ("piece", "west", 0.97, ONE): "“west” hangs on head 1.2",
    ("piece", "west", 0.97, MEAN_ALONE): "“west” loses 50 points with head 1.2 set to its mean; "
    "not set to zero; not as in other sentences",
    ("written", "west", 0.97, UNTESTED): "“west” loses 50 points with head 1.2 set to its mean",
    ("piece", "west", 0.97, TWO): "“west” hangs on head 1.2 (50 points), then 2.3 (45 points)",
    ("piece", "west", 0.97, SECOND): "“west” hangs on head 1.2 (50 points), then 0.1 (42 points), "
    "which looks at a word",
    ("written", "west", 0.97, NONE): "No single head decides “west”: find the team",
    ("piece", "west", 0.12, ONE): "“west” is a guess: 12 %",
    ("piece", "the", 0.9, ONE): "“the” fits many sentences: it says little of this one",
    ("vector", "west", 0.0, None): "Which of 72 heads moves the vector of “west” most?",
    ("vector", "west", 0.0, UNTESTED): "Head 1.2, set to its mean, moves the vector of “west” most",
    ("vector", "west", 0.0, TWO): "Head 1.2, set to its mean, moves the vector of “west” most "
    "(50 %), then 2.3 (45 %)",
    ("vector", "west", 0.0, NO_TWO): "No head alone moves the vector of “west” far",
    (
        "vector",
        "west",
        0.0,
        NONE,
    ): "No head alone moves the vector of “west” far: 1.2 moves it most",
}


@over("case", TITLES)
def test_a_claim_names_a_head_once_all_are_tried_and_no_guess_is_decided(case):
    kind, word, share, found = case
    assert (
        head_sentences.heading(packaged("minilm"), answered(kind, word, share), found)
        == TITLES[case]
    )


def test_without_an_answer_the_heads_are_counted():
    said = head_sentences.heading(packaged("minilm"), None, None)
    assert said == "72 heads, and a switch on each"


@pytest.mark.parametrize("words", [("·", "a space"), ("··", "2 spaces"), ("#", "“#”")])
def test_an_answer_of_spaces_is_named_in_words(words):
    word, named = words
    assert quoted(word) == named
    title = head_sentences.heading(packaged("minilm"), answered(word=word), ONE)
    assert title == f"{named[0].upper()}{named[1:]} hangs on head 1.2"
