"""Words around the chapters of a lesson that is one file, in its language where they are there."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass

import yaml

from attention.subjects.guide.chapters import GUIDE

ENGLISH, FILE = "en", "words.yaml"


@dataclass(frozen=True)
class LessonWords:
    """Words around the chapters of a lesson.

    guide: the title of the guide; chapters: names the list of its chapters; back, next, reveal: on
    buttons; right, wrong: on an answer.
    """

    guide: str
    chapters: str
    back: str
    next: str
    reveal: str
    right: str
    wrong: str


@functools.cache
def all_words() -> Mapping[str, LessonWords]:
    """The words by the code of their language: English ones, and those of each folder."""
    files = {ENGLISH: GUIDE / FILE} | {one.parent.name: one for one in GUIDE.glob(f"*/{FILE}")}
    return {
        code: LessonWords(**yaml.load(file.read_text("utf-8"), Loader=yaml.BaseLoader))
        for code, file in sorted(files.items())
    }


def words_in(language: str) -> tuple[str, LessonWords]:
    """The words for a lesson in a language, and the code of that which they are in.

    language: a code as in HTML's `lang`; a variety of a language has its words, any other English.
    """
    code = language.partition("-")[0].lower()
    code = code if code in all_words() else ENGLISH
    return code, all_words()[code]
