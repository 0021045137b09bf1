"""Methods of association against dependencies that are known."""

from pathlib import Path

import torch

from attention.analysis.associations import METHODS, Followed
from attention.analysis.dependencies import (
    CHANCE,
    KNOWN,
    finds,
    followed_of,
    repeats,
    sentences_for,
    shares_of,
    table,
)
from attention.analysis.sentences import SENTENCES
from tests.trained.packaged import packaged

PAPER = Path(__file__).parents[2] / "docs" / "study.md"


def test_a_method_finds_a_token_where_its_greatest_number_of_others_lies_there():
    model = packaged("constructed")
    followed = Followed(model, model.pieces("the cats see"))
    found = torch.zeros(4, 4)
    found[3] = torch.tensor([9.0, 1.0, 2.0, 9.0])  # the start and the last one do not count
    assert finds(found, followed, 2)
    assert not finds(found, followed, 1)
    found[3, 2] = torch.nan
    assert finds(found, followed, 1)


def test_a_dependency_names_the_letter_that_followed_an_equal_one():
    model = packaged("constructed")
    for one in repeats()[:20]:
        *letters, again = one.text.split()
        assert one.right == letters[one.key - 1]  # behind the start
        assert again == letters[one.key - 2]
        assert one.wrong in letters
        followed = followed_of(model, one)
        assert followed.words is not None
        assert model.shown(followed.words) == (one.right, one.wrong)


def test_means_are_taken_over_sentences_that_a_model_knows():
    assert sentences_for("minilm") is SENTENCES
    for name in KNOWN:
        pieces = [packaged(name).pieces(text) for text in sentences_for(name)[:20]]
        assert not any("[unknown]" in one.texts for one in pieces)


def test_the_table_of_the_paper_is_that_of_the_measurement():
    for name, known in KNOWN.items():
        shares = shares_of(packaged(name), known())
        assert table(shares) in PAPER.read_text("utf-8")
        assert shares[CHANCE] < 0.2 < 0.9 < max(shares[name] for name in METHODS)
