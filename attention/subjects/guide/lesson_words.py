"""Words around the chapters of a lesson, on its page and in its file, in the language of both."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import yaml

from attention.subjects.guide.chapters import GUIDE

ENGLISH, FILE = "en", "words.yaml"
SENTENCES = "sentences.yaml"  # English ones of the figures, and what they are in the language
SLOT = re.compile(r"\\\{(\w+)\\\}")
LessonWords = Mapping[str, str]  # by name, with braces for what differs


@functools.cache
def all_words() -> Mapping[str, LessonWords]:
    """The words by the code of their language; of those that a folder lacks the English ones."""
    files = {one.parent.name: one for one in sorted(GUIDE.glob(f"*/{FILE}"))}
    english = _read(GUIDE / FILE)
    return {ENGLISH: english} | {code: {**english, **_read(file)} for code, file in files.items()}


def _read(file: Path) -> LessonWords:
    words: LessonWords = yaml.load(file.read_text("utf-8"), Loader=yaml.BaseLoader)
    return words


def words_in(language: str) -> tuple[str, LessonWords]:
    """The words for a lesson in a language, and the code of that which they are in.

    language: a code as in HTML's `lang`; a variety of a language has its words, any other English.
    """
    code = language.partition("-")[0].lower()
    code = code if code in all_words() else ENGLISH
    return code, all_words()[code]


@functools.cache
def _sentences(code: str) -> Sequence[tuple[re.Pattern[str], str]]:
    """Patterns of English sentences, and each in a language."""
    file = GUIDE / code / SENTENCES
    known = _read(file) if file.is_file() else {}
    return [(re.compile(SLOT.sub(r"(?P<\1>.+?)", re.escape(one))), known[one]) for one in known]


def sentence_in(language: str, sentence: str) -> str:
    """A sentence below a figure in another language; the English one where that has none.

    What stands in braces differs: a number, {n1}, as the language writes it, or else words.
    """
    code, words = words_in(language)
    for pattern, other in _sentences(code):
        if found := pattern.fullmatch(sentence):
            named = {
                name: number_in(words, text)
                if re.fullmatch(r"n\d", name)
                else sentence_in(code, text)
                for name, text in found.groupdict().items()
            }
            return other.format(**named)
    return sentence


def number_in(words: LessonWords, number: str) -> str:
    """An English number as a language writes it: its comma, and the point between thousands."""
    return number.translate(str.maketrans(".,", ",.")) if words["decimal"] == "," else number
