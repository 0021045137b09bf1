"""Nobody who follows the guide meets a word or symbol before it has been explained."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from attention.analysis import additions
from attention.app.state.glossary import GLOSSARY
from attention.core.variants import VARIANTS
from attention.pipeline import Result, Settings, compute
from attention.subjects.guide.chapters import GUIDE, Chapter
from attention.subjects.guide.reading import read_lesson
from attention.subjects.heads import words as heads_words
from attention.trained.parts import LayerNorm
from tests.cases import over
from tests.subjects.steps.making import drawn, no_vectors
from tests.trained.packaged import packaged

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


@over("variant", [name for name, variant in VARIANTS.items() if variant.normed_by == "softmax"])
def test_weight_a_row_sums_to_one_or_is_zero_where_every_key_is_hidden(variant: str) -> None:
    sums = weights_of(variant, WORDS, mask=("cells",), cells="1:0,2 3:*").sum(-1)
    assert_close(sums, torch.tensor([1.0, 1, 1, 0, 1]).expand_as(sums))


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


@over("variant", heads_words.variants_with_heads())
def test_head_queries_are_its_own_and_keys_and_values_its_own_or_of_its_group(variant: str) -> None:
    result = result_of(variant, WORDS)
    trace, size = result.layer_trace, result.layer.heads // result.layer.groups
    for part, shared in ((trace.queries, 1), (trace.keys, size), (trace.values, size)):
        for head in range(1, result.layer.heads):
            same = torch.equal(part[head], part[head - 1])
            assert same == (head // shared == (head - 1) // shared)
    assert trace.output.dtype == torch.float32
    for query in range(len(WORDS)):  # a rounding error is in the seventh digit
        added = additions.additions(result.layer, trace, query)
        assert added.rounding < 1e-6 * float(added.lengths.sum())


@pytest.mark.parametrize(
    ("term", "words"),
    [
        ("weight", "each row of weights adds up to 1, or is all 0 where the mask hides every key"),
        ("positions", "Without them, and without a mask, a decay or erasing, the weight between"),
        ("head", "queries of its own, and with keys and values of its own or of its group"),
        ("rounding error", "Numbers here have some seven digits."),
        ("layer norm", "stretched to a fixed length"),
        (
            "layer norm",
            "The full norm also moves the mean to 0 and adds a learned number; RMS norm",
        ),
    ],
)
def test_terms_are_explained_by_what_is_tested_here(term: str, words: str) -> None:
    assert words in GLOSSARY[term]


@pytest.mark.parametrize("name", ["minilm", "smollm2"])
def test_a_layer_norm_fixes_lengths_and_the_full_one_means_too(name: str) -> None:
    norms = packaged(name).layers[0].feed_norms
    norm = norms.before or norms.after
    full = isinstance(norm, LayerNorm)
    assert full == (name == "minilm")
    x = 3 + drawn(5, len(norm.weight))
    bias = norm.bias if isinstance(norm, LayerNorm) and norm.bias is not None else torch.zeros(())
    made = (norm(x) - bias) / norm.weight
    assert_close(made.square().mean(-1), torch.ones(5), atol=1e-3, rtol=0)
    assert bool(bias.any()) == full
    means = made.mean(-1)
    assert bool((means.abs() < 1e-3).all()) == full
    assert bool((means > 0.5).all()) != full
