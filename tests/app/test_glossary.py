"""Nobody who follows the guide meets a word or symbol before it has been explained."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from torch import Tensor

from attention.app.state.glossary import GLOSSARY
from attention.core.variants import VARIANTS
from attention.pipeline import Result, Settings, compute
from attention.subjects.guide.chapters import GUIDE
from attention.subjects.guide.reading import read_lesson
from tests.cases import over
from tests.subjects.play.how.making import no_vectors

BOLD = re.compile(r"\*\*(.+?)\*\*")


def test_a_word_of_the_glossary_is_in_bold_where_the_guide_first_has_it():
    told, explained = "", set[str]()
    for chapter in read_lesson(Path(GUIDE), lambda link, page: []).chapters:
        told += f"{chapter.body} {chapter.hint} {chapter.title} "
        told += " ".join((chapter.question, *chapter.choices, chapter.because))
    for found in BOLD.finditer(told):
        word = found[1].casefold()
        if word in GLOSSARY and word not in explained:
            before = told[: found.start()]
            assert not re.search(rf"\b{re.escape(word)}\b", before, re.IGNORECASE), word
            explained.add(word)
    assert len(explained) > 14


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
def test_positions_order_changes_weights_with_them_a_mask_a_decay_or_erasing_alone(variant):
    other = [WORDS[at] for at in ORDER]

    def moved(**settings: Any) -> float:
        """The most that a weight between two words changes as they change places."""
        weights, after = (weights_of(variant, some, **settings) for some in (WORDS, other))
        return float((after - weights[..., ORDER, :][..., ORDER]).abs().max())

    trace = result_of(variant, WORDS).layer_trace
    assert (moved() < 1e-5) == (trace.decay is None and trace.erased is None)
    assert moved(mask=("causal",)) > 1e-4
    assert moved(positions="alibi") > 1e-4
