"""The sentences that come with the library."""

from __future__ import annotations

from attention.analysis.sentences import SENTENCES


def test_there_are_200_different_sentences() -> None:
    assert len(SENTENCES) == len({*SENTENCES}) == 200
    assert all(sentence[0].isupper() and sentence[-1] in ".?" for sentence in SENTENCES)
    assert all(3 <= len(sentence.split()) <= 16 for sentence in SENTENCES)
