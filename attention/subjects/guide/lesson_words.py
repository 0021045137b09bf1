"""Words around the chapters of a lesson, on its page and in its file, in the language of both."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path

import yaml

from attention.subjects.guide.chapters import GUIDE

ENGLISH, FILE = "en", "words.yaml"
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
