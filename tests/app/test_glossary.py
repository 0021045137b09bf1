"""Nobody who follows the guide meets a word or symbol before it has been explained."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from torch import Tensor

from attention.app.state.glossary import GLOSSARY
from attention.core.variants import VARIANTS
from attention.pipeline import Result, Settings, compute
from attention.subjects.guide.chapters import GUIDE, Chapter
from attention.subjects.guide.reading import read_lesson
from tests.cases import over
from tests.subjects.steps.making import no_vectors

# What stands in the figures beside the visitor's own words, part by part.
LINES = "query token, key and weight, attends"
HEATMAP = {
    "scores": "score query key",
    "weights": "softmax weight query key entropy, bits",
}
SUM = "y Σ w·v dimension key weight share of y"
FIGURES = {
    "map": f"{LINES} cosine",
    "compare": "weight query key divergence, bits",
    "sweep": "temperature weight entropy, bits",
    "vectors": f"vector {HEATMAP['scores']}",
    "finale": "head weight",
    "heads": f"head weight query key {HEATMAP['weights']}",
    "learning": "query key weight head",
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
MORE = ["bits", "w·v", "causal", "cross-attention", "[CLS]"]
NOT_IN_THE_GUIDE = [
    *("token", "‖·‖", "rounding error", "d_model", "d_v", "residual path", "layer norm"),
    *("association", "erasure", "rank agreement", "seed", "divergence", "even spread"),
]
TERMS = [*(term for term in GLOSSARY if term not in NOT_IN_THE_GUIDE), *MORE]
EXPLAINED_WITHOUT_BOLD = {
    "bits": "as if 8 words shared it equally",
    "W_q, W_k, W_v": "by three matrices: W_q, W_k and W_v",
    "W_o": "A last matrix, W_o, joins what all heads",
    "Σ": "That sum, Σ,",
    "w·v": "is one term w·v",
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
    parts["diagram"] = "query key value scaled score softmax weight Σ y"
    return " ".join(parts[part] for part in chapter.parts)


def read(chapters: tuple[Chapter, ...]) -> Iterator[tuple[int, str, str]]:
    """All that a visitor reads, in that order: the chapter, where it stands there, the text."""
    for at, chapter in enumerate(chapters):
        for line in [*chapter.body.split("\n\n"), chapter.hint]:
            yield at, "body", re.sub(r"\]\(#light-\w+\)", "]", line).replace("\n", " ")
        yield at, "title", chapter.title
        yield at, "figure", figure_of(chapter)
        for text in (chapter.question, *chapter.choices, chapter.because):
            yield at, "question", text
        if chapter.after:
            yield at, "after", HEATMAP["weights"]


@over("term", TERMS)
def test_a_word_is_explained_where_it_is_first_met(
    term: str, chapters: tuple[Chapter, ...]
) -> None:
    at, where, text = next(
        (at, where, text) for at, where, text in read(chapters) if pattern(term).search(text)
    )
    where_met = f"{term} is first met in the {where} of {chapters[at].file}: {text}"
    if words := EXPLAINED_WITHOUT_BOLD.get(term):
        assert words in text, where_met
    else:
        bold = re.findall(r"\*\*(.+?)\*\*", text)
        assert any(pattern(term).search(found) for found in bold), where_met


# What it says of numbers

WORDS = ["one", "two", "three", "four", "five"]
ORDER = [3, 0, 4, 2, 1]


def result_of(variant: str, words: list[str], **settings: Any) -> Result:
    """A layer of that variant over random vectors; its small scores leave weight to every key."""
    small = {"vectors": "random", "scale": "factor", "factor": 0.05}
    return compute(Settings(" ".join(words), variant=variant, **small, **settings), no_vectors)


def weights_of(variant: str, words: list[str], **settings: Any) -> Tensor:
    return result_of(variant, words, **settings).layer_trace.weights


@over("variant", VARIANTS)
def test_positions_order_changes_weights_with_them_a_mask_a_decay_or_erasing_alone(
    variant: str,
) -> None:
    other = [WORDS[at] for at in ORDER]

    def moved(**settings: Any) -> float:
        """The most that a weight between two words changes as they change places."""
        weights, after = (weights_of(variant, some, **settings) for some in (WORDS, other))
        return float((after - weights[..., ORDER, :][..., ORDER]).abs().max())

    trace = result_of(variant, WORDS).layer_trace
    assert (moved() < 1e-5) == (trace.decay is None and trace.erased is None)
    assert moved(mask=("causal",)) > 1e-4
    assert moved(positions="alibi") > 1e-4
