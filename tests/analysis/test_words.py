"""A word found again among other tokens."""

from __future__ import annotations

import pytest

from attention.analysis.words import same_word


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
    before: str, at: int, now: str, found: int | None
) -> None:
    assert same_word(before.split(), at, now.split()) == found
