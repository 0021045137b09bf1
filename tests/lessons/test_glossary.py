"""Nobody who follows the guide meets a word or symbol before it has been explained."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from attention.lessons.chapters import GUIDE, Chapter, read_lesson
from attention.lessons.glossary import GLOSSARY

# What stands in the figures beside the visitor's own words, part by part.
LINES = "query token, key and weight, attends"
HEATMAP = {
    "scores": "score query key",
    "weights": "softmax weight query key entropy, bits",
}
SUM = "y Σ w·v dimension key weight score scaled ‖v‖ ‖w·v‖ share of y"
FIGURES = {
    "map": f"{LINES} cosine",
    "compare": "weight query key divergence, bits",
    "sweep": "temperature weight entropy, bits",
    "heads": f"head weight query key {HEATMAP['weights']}",
    "spread": "spread of the scores, share, d_k, query, key, softmax",
}
# How they are found in a text, where that is not the word itself, in the singular or plural.
FOUND_AS = {
    "query": r"quer(y|ies)\b",
    "scale": r"scaled?\b",
    "W_q, W_k, W_v": r"W_[qkv]\b",
    "W_o": r"W_o\b",
    "d_k": r"d_k\b",
    "y": r"\by\b",
    "Σ": "Σ",
    "w·v": r"w·v",
    "‖·‖": "‖",
    "bits": r"\bbits?\b",
    "causal": r"\bcausal\b",
    "[CLS]": r"\[CLS\]",
}
# Besides those of the glossary that the guide speaks of.
MORE = ["bits", "w·v", "batch", "padding", "window", "causal", "cross-attention", "[CLS]"]
NOT_IN_THE_GUIDE = ["token", "residual", "d_model", "d_v", "residual path", "layer norm"]
TERMS = [*(term for term in GLOSSARY if term not in NOT_IN_THE_GUIDE), *MORE]
EXPLAINED_WITHOUT_BOLD = {
    "bits": "as if 8 words shared it equally",
    "W_q, W_k, W_v": "by three matrices: W_q, W_k and W_v",
    "W_o": "a last matrix, W_o, joins what all heads",
    "Σ": "That sum, Σ,",
    "w·v": "is one term w·v",
    "‖·‖": "‖v‖ is the length of v",
    "[CLS]": "[CLS] and [SEP] are marks",
}


@pytest.fixture(scope="module")
def chapters() -> tuple[Chapter, ...]:
    return read_lesson(Path(GUIDE), lambda link, page: []).chapters


def pattern(term: str) -> re.Pattern[str]:
    return re.compile(FOUND_AS.get(term, rf"\b{re.escape(term)}(e?s)?\b"), re.IGNORECASE)


def figure_of(chapter: Chapter) -> str:
    if chapter.figure != "picture":
        return FIGURES[chapter.figure]
    stage = chapter.link.get("stage", ["weights"])[-1]
    parts = {"lines": LINES, "heatmap": HEATMAP[stage], "sum": SUM, "away": "mask, masked"}
    return " ".join(parts[part] for part in chapter.parts)


def read(chapters: tuple[Chapter, ...]) -> Iterator[tuple[int, str, str]]:
    """All that a visitor reads, in that order: the chapter, where it stands there, the text."""
    for at, chapter in enumerate(chapters):
        for line in chapter.body.split("\n\n"):
            yield at, "body", re.sub(r"\]\(#light-\w+\)", "]", line).replace("\n", " ")
        yield at, "title", chapter.title
        yield at, "figure", figure_of(chapter)
        for text in (chapter.question, *chapter.choices, chapter.because):
            yield at, "question", text
        if chapter.after:
            yield at, "after", HEATMAP["weights"]


@pytest.mark.parametrize("term", TERMS)
def test_a_word_is_explained_where_it_is_first_met(
    term: str, chapters: tuple[Chapter, ...]
) -> None:
    at, where, text = next(
        (at, where, text) for at, where, text in read(chapters) if pattern(term).search(text)
    )
    place = f"{term} is first met in the {where} of {chapters[at].file}: {text}"
    if words := EXPLAINED_WITHOUT_BOLD.get(term):
        assert words in text, place
    else:
        bold = [
            found for found in re.findall(r"\*\*(.+?)\*\*", text) if pattern(term).search(found)
        ]
        assert bold, place


def test_the_titles_of_chapters_come_with_the_words_that_explain_them(
    chapters: tuple[Chapter, ...],
) -> None:
    met = set()
    for chapter in chapters:
        in_body = {term for term in TERMS if pattern(term).search(chapter.body)}
        in_title = {term for term in TERMS if pattern(term).search(chapter.title)}
        assert in_title <= in_body | met, chapter.title
        met |= in_body


@pytest.mark.parametrize("term", GLOSSARY)
def test_the_glossary_explains_in_a_sentence(term: str) -> None:
    words = GLOSSARY[term]
    assert words.endswith(".")
    assert len(words.split()) <= 40
