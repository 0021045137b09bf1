"""Names of heads, counted by hand on small weights."""

from __future__ import annotations

import pytest
import torch

from attention.analysis.heads import NAMINGS
from attention.analysis.names import WORDS, holds, targets_of
from attention.analysis.sentences import PRONOUNS, SENTENCES, marked
from attention.analysis.words import same_word
from attention.core import masks
from attention.trained.models import Pieces


def pieces_of(text: str, special: str = "") -> Pieces:
    words = text.split()
    ids = torch.tensor([[*dict.fromkeys(words)].index(word) for word in words])
    at = tuple(None if word in special.split() else position for position, word in enumerate(words))
    return Pieces(ids, tuple(words), at)


def cells(name: str, pieces: Pieces, causal: bool = False) -> set[tuple[int, int]]:
    seen = masks.causal(len(pieces.ids), len(pieces.ids)) if causal else None
    return {(row, key) for row, key in targets_of(NAMINGS[name], pieces, seen).nonzero().tolist()}


def test_each_name_says_which_keys_it_means():
    pieces = pieces_of("[CLS] a b a c [SEP]", "[CLS] [SEP]")
    assert cells("previous", pieces) == {(1, 0), (2, 1), (3, 2), (4, 3), (5, 4)}
    assert cells("next", pieces) == {(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)}
    assert cells("itself", pieces) == {(at, at) for at in range(6)}
    assert cells("same word", pieces) == {(1, 3), (3, 1)}
    assert cells("induction", pieces) == {(3, 2)}  # b followed the first a
    assert cells("first", pieces) == {(at, 0) for at in range(1, 6)}
    assert cells("separator", pieces) == {(at, 5) for at in range(1, 5)}
    assert [*WORDS] == [*NAMINGS]


def test_a_row_does_not_count_for_a_name_whose_keys_it_may_not_see():
    pieces = pieces_of("a b a c")
    assert cells("same word", pieces, causal=True) == {(2, 0)}
    assert cells("next", pieces, causal=True) == set()
    assert cells("previous", pieces, causal=True) == cells("previous", pieces)


def test_a_name_holds_where_the_greatest_weight_is_counted_among_what_counts():
    weights = torch.tensor(
        [
            [[0.9, 0.1, 0.0], [0.6, 0.3, 0.1], [0.5, 0.3, 0.2]],
            [[0.2, 0.8, 0.0], [0.1, 0.2, 0.7], [0.1, 0.2, 0.7]],
        ]
    )
    previous = targets_of(NAMINGS["previous"], pieces_of("a b c"), None)
    right, weight = holds(weights, previous, [0, 1, 2])
    assert right.tolist() == [0.5, 0.0]  # query 1 looks at 0; query 2 at 0, not at 1
    assert weight.tolist() == pytest.approx([(0.6 + 0.3) / 2, (0.1 + 0.2) / 2])
    right, _ = holds(weights, previous, [1, 2])  # the first one ignored
    assert right.tolist() == [1.0, 0.0]
    nothing, _ = holds(weights, torch.zeros(3, 3, dtype=torch.bool), [0, 1, 2])
    assert len(nothing) == 0


def test_a_pronoun_stands_for_the_noun_in_brackets():
    assert marked("The [cat] ran, as (it) was late.") == (
        "The cat ran, as it was late.",
        "cat",
        "it",
    )


def test_the_sentences_of_pronouns_are_balanced():
    """Always the first noun, or always the last, is right about half of the time."""
    firsts = 0
    for text in PRONOUNS:
        firsts += text.index("[") < 15
    assert 0.4 < firsts / len(PRONOUNS) < 0.65
    assert len(SENTENCES) == 200


# A word found again among other tokens


@pytest.mark.parametrize(
    ("before", "at", "now", "found"),
    [
        ("the cat sat", 1, "a cat sat down", 1),
        ("the cat saw the dog", 3, "and the cat saw the dog", 4),
        ("the cat saw the dog", 3, "the dog", 0),
        ("the cat sat", 1, "the dog sat", None),
        ("[CLS] un ##believ ##able dog [SEP]", 4, "unbelievable dog", 1),
        ("[CLS] un ##believ ##able dog [SEP]", 2, "unbelievable dog", 0),
        ("unbelievable dog", 0, "[CLS] un ##believ ##able dog [SEP]", 1),
        ("Anna ·met ·Anna", 2, "anna met anna", 2),
        ("[CLS] dog [SEP]", 0, "[CLS] cat [SEP]", 0),
        ("[CLS] dog [SEP]", 2, "dog", None),
    ],
)
def test_a_word_is_found_by_its_place_in_the_same_sentence_and_by_its_letters_in_another(
    before, at, now, found
):
    assert same_word(before.split(), at, now.split()) == found
