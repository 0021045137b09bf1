"""Methods of association against dependencies that are known."""

from pathlib import Path

import torch

from attention.analysis.associations import METHODS, Followed
from attention.analysis.associations.erasing import HIDDEN
from attention.analysis.dependencies import (
    CHANCE,
    EXCHANGED,
    KNOWN,
    UNKNOWN,
    erasures_of,
    exchanged_numbers,
    finds,
    followed_of,
    sentences_for,
    subjects,
    table,
    truth_of,
    truths,
    ways_table,
)
from attention.analysis.sentences import SENTENCES
from tests.trained.packaged import packaged

PAPER = Path(__file__).parents[2] / "docs" / "study.md"


def test_a_method_finds_a_token_where_its_greatest_number_of_others_lies_there():
    model = packaged("grammar")
    followed = Followed(model, model.pieces("the cats see"))
    found = torch.zeros(4, 4)
    found[3] = torch.tensor([9.0, 1.0, 2.0, 9.0])  # the start and the last one do not count
    assert finds(found, followed, 2)
    assert not finds(found, followed, 1)
    found[3, 2] = torch.nan
    assert finds(found, followed, 1)


def test_a_dependency_names_the_subject_and_both_forms_of_its_verb():
    model = packaged("grammar")
    for one in subjects(2)[:20]:
        words = one.text.split()
        plural = words[one.key - 1].endswith("s")  # behind the start
        assert one.right.endswith("s") != plural
        assert {f"{one.wrong}s", one.wrong.removesuffix("s")} >= {one.right}
        followed = followed_of(model, one)
        assert followed.words is not None
        assert model.shown(followed.words) == (one.right, one.wrong)


def test_raw_weights_are_right_as_often_as_is_written():
    for name, kinds in KNOWN.items():
        model = packaged(name)
        for kind, known in kinds.items():
            hits = [
                finds(METHODS["raw-mean"](followed)[-1], followed, one.key)
                for one in known()
                for followed in [followed_of(model, one)]
            ]
            assert abs(sum(hits) / len(hits) - truths(name)[kind].shares["raw-mean"]) <= 0.02


def test_means_are_taken_over_sentences_that_a_model_knows():
    assert sentences_for("minilm") is SENTENCES
    for name in KNOWN:
        pieces = [packaged(name).pieces(text) for text in sentences_for(name)[:20]]
        assert not any("[unknown]" in one.texts for one in pieces)


def test_tables_of_the_paper_are_those_of_the_measurement():
    paper = PAPER.read_text("utf-8")
    for name in KNOWN:
        assert table(truths(name)) in paper
        assert ways_table(truths(name)) in paper


def test_a_word_in_its_other_number_finds_the_subject_more_often_than_a_hidden_one():
    """Ten sentences measured anew; all of them as they are written."""
    model = packaged("grammar")
    found = truth_of(model, subjects(2)[:10])
    assert found.erasures[HIDDEN] == found.shares["erasure"]
    assert found.erasures[EXCHANGED] == 1
    for one in truths("grammar").values():
        assert one.erasures[HIDDEN] == one.shares["erasure"]
        assert one.erasures["left out"] < one.erasures[HIDDEN] < one.erasures[UNKNOWN]
        assert one.erasures[UNKNOWN] < 0.99 <= one.erasures[EXCHANGED]
        assert one.erasures[EXCHANGED] >= max(one.shares.values()) - 0.01


def test_numbers_are_exchanged_of_nouns_and_verbs_alone():
    assert exchanged_numbers("near the cats that sees the old dog often") == (
        ["near", "the", "cat", "that", "see", "the", "old", "dogs", "often"]
    )


def test_an_erased_word_is_replaced_at_its_place_alone():
    """The move of the target is that of a run of the sentence with another word."""
    model = packaged("grammar")
    one = subjects(1)[0]
    followed, words = followed_of(model, one), one.text.split()
    words[one.key - 1] = one.exchanged[one.key - 1]
    with torch.no_grad():
        moved = erasures_of(followed, one.exchanged)[EXCHANGED][one.key]
        other = Followed(model, model.pieces(" ".join(words)), followed.words)
        expected = other.target(other.hidden)[-1] - followed.target(followed.hidden)[-1]
    torch.testing.assert_close(moved, expected.abs(), rtol=1e-4, atol=1e-4)


def test_a_model_whose_truth_is_not_known_has_none_and_chance_is_less_than_the_best():
    assert truths("minilm") == {}
    for one in truths("grammar").values():
        assert one.sentences == 100
        assert one.shares[CHANCE] < 0.2 < 0.9 < max(one.shares.values())
