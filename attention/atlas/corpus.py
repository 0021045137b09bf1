"""Texts that the heads of a model are measured on, in two halves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from attention.analysis.means_on_corpus import MEANS_OVER
from attention.analysis.sentences import (
    PORTUGUESE,
    PORTUGUESE_KINDS,
    PRONOUNS,
    SENTENCES,
    by_kind,
    marked,
)
from attention.atlas.passport import SEED, half_of
from attention.core.printing import listed
from attention.trained.constructed import vocabulary
from attention.trained.models import Model, goes_on
from attention.trained.sources import CONSTRUCTED

EVERYDAY = "everyday"  # the kind of prompts that are made of sentences at large
OWN = "own sentences"
EVERYDAY_PROMPTS = 62
ELSEWHERE = 80  # sentences that costs are measured on
TWICE, SHORT = 40, 8  # sentences that are said twice, and the most words of each
BY_ZERO = 3  # one of so many everyday prompts is measured by zero, too
LEAST_LINES = 12
DRAWN = 80  # rows of letters and words, for patterns
DRAWN_OF_KIND = 70

# Beginnings of English sentences with one clear answer, by kind, each with that: the word as a
# model learns it, or how it begins.
ANSWERS = {
    kind: dict(line.split("|") for line in lines)
    for kind, lines in by_kind(Path(__file__).with_name("prompts.txt").read_text("utf-8")).items()
}


@dataclass(frozen=True)
class CorpusItem:
    """A text to be measured; for its fields see `passport.Text`."""

    text: str
    kind: str
    half: str
    by_zero: bool = False


@dataclass(frozen=True)
class Corpus:
    """Texts that a model is measured on.

    sentences: for patterns, the first of them for costs elsewhere; prompts: for effects on what
    the model answers; means_over: texts of their own, over which the means of heads are taken.
    """

    sentences: tuple[CorpusItem, ...]
    prompts: tuple[CorpusItem, ...]
    means_over: tuple[str, ...]

    @property
    def elsewhere(self) -> tuple[CorpusItem, ...]:
        """The sentences that the cost of a head's loss is measured on."""
        return self.sentences[:ELSEWHERE]


def corpus_of(model: Model) -> Corpus:
    """The texts for a model: of its own language, English where it names none.

    Raises ValueError for models of another language: `of_lines` takes texts of theirs.
    """
    name, language = model.about.name, model.about.language
    if name == CONSTRUCTED.about.name:
        return of_letters()
    if language not in LANGUAGES:
        known = listed([*filter(None, LANGUAGES)])
        raise ValueError(f"the packaged texts are {known}, {name} has learned {language}")
    return LANGUAGES[language](goes_on(model))


def of_english(answers: bool) -> Corpus:
    """English texts. answers: if the model says a next piece, so that sentences can end early."""
    kinds = ANSWERS if answers else {"pronouns": [marked(text)[0] for text in PRONOUNS]}
    return _of_language(SENTENCES, kinds, answers)


def of_portuguese(answers: bool) -> Corpus:
    """Portuguese texts. answers: as `of_english` has it."""
    kinds = {} if answers else PORTUGUESE_KINDS
    return _of_language(PORTUGUESE, kinds, answers)


LANGUAGES: Mapping[str, Callable[[bool], Corpus]] = {
    "": of_english,
    "English": of_english,
    "Portuguese": of_portuguese,
}


def _of_language(
    sentences: Sequence[str], kinds: Mapping[str, Iterable[str]], answers: bool
) -> Corpus:
    """Texts of a language. kinds: of prompts; answers: as `of_english` has it.

    Behind the sentences some of them are said twice, but for their last word: only there a head can
    show that it looks for what followed an earlier equal piece (Olsson et al. 2022).
    """
    means_over, others = sentences[:MEANS_OVER], sentences[MEANS_OVER:]
    short = [text for text in others if len(text.split()) <= SHORT]
    twice = [f"{text} {begun(text)}" for text in short[:TWICE]]
    everyday = [*map(begun, others[-EVERYDAY_PROMPTS:])] if answers else others
    prompts = {kind: [text.rstrip(".?!") for text in texts] for kind, texts in kinds.items()}
    prompts[EVERYDAY] = [text.rstrip(".?!") for text in everyday]
    return _corpus(means_over, [*others, *twice], prompts)


def of_lines(lines: Sequence[str], answers: bool) -> Corpus:
    """Texts of one's own, one a line: the first fifth for means, the others as sentences, and as
    prompts without their last word where the model says a next piece.

    Raises ValueError where there are few, or one of them is a single word.
    """
    texts = [line.strip() for line in dict.fromkeys(lines) if line.strip()]
    if len(texts) < LEAST_LINES:
        raise ValueError(f"there must be at least {LEAST_LINES} lines of text, got {len(texts)}")
    short = next((text for text in texts if len(text.split()) < 2), None)
    if short is not None:
        raise ValueError(f"each line must have two words at least, got {short!r}")
    over = min(MEANS_OVER, len(texts) // 5)
    others = texts[over:]
    return _corpus(texts[:over], others, {OWN: [*map(begun, others)] if answers else others})


def of_letters() -> Corpus:
    """Letters and words in any order, in most of which some stand twice: all that is asked of the
    model that was built by hand."""
    generator = torch.Generator().manual_seed(SEED)
    words, letters = vocabulary()[3:-26], vocabulary()[-26:]
    kinds = {
        "repeated letters": _repeated(letters, generator, DRAWN_OF_KIND),
        "repeated words": _repeated(words, generator, DRAWN_OF_KIND),
        "nothing repeated": _repeated(letters, generator, DRAWN_OF_KIND, again=False),
    }
    sentences = [
        text
        for pair in zip(
            _repeated(letters, generator, DRAWN // 2),
            _repeated(words, generator, DRAWN // 2),
            strict=True,
        )
        for text in pair
    ]
    return _corpus(_repeated(letters, generator, MEANS_OVER), sentences, kinds)


def begun(text: str) -> str:
    """A sentence without its last word."""
    return text.rsplit(maxsplit=1)[0]


def _corpus(
    means_over: Sequence[str], sentences: Sequence[str], kinds: Mapping[str, Sequence[str]]
) -> Corpus:
    """All in halves; of the sentences half, and of prompts all but most everyday ones, by zero."""
    return Corpus(
        tuple(
            CorpusItem(text, "", half_of(place), place % 4 < 2)
            for place, text in enumerate(sentences)
        ),
        tuple(
            CorpusItem(
                text, kind, half_of(place), kind not in (EVERYDAY, OWN) or place % BY_ZERO == 0
            )
            for kind, prompts in kinds.items()
            for place, text in enumerate(dict.fromkeys(prompts))
        ),
        tuple(means_over),
    )


def _repeated(
    among: Sequence[str], generator: torch.Generator, many: int, again: bool = True
) -> list[str]:
    """Texts of some of these, of which those at the beginning come again, but for the last."""
    texts = dict[str, None]()
    while len(texts) < many:
        order = [among[at] for at in torch.randperm(len(among), generator=generator).tolist()]
        known, between = torch.randint(3, 7, (2,), generator=generator).tolist()
        repeated = order[: known - 1] if again else order[known + between :][: known - 1]
        texts[" ".join([*order[: known + between], *repeated])] = None
    return [*texts]
