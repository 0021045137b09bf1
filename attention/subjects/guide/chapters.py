"""Lessons and their chapters; `reading` makes them of Markdown files, or of one text."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import urlencode

from attention.core.limits import OWN_LESSONS_VARIABLE as OWN_LESSONS_VARIABLE
from attention.core.settings import choice, text, whole
from attention.core.variants import MAX_HEADS
from attention.inputs.text import plain

GUIDE = Path(__file__).parent / "lessons"

WORDLESS = ("spread", "learning")  # figures of no sentence
FIGURES = ("picture", "how", "heads", "against", "map", "vectors", "window", "finale", *WORDLESS)
PARTS = ("lines", "heatmap", "sum", "away", "diagram")
# What a chapter's link says for the case that its trained model is not installed.
UNTRAINED = ("memory", "mask")
FIGURE_MINUTES, WORDS_A_MINUTE = 0.5, 150
MIN_CHOICES, MAX_CHOICES = 2, 4

# What [words](#light-name) can light in a figure: by name the elements, as CSS selects them.
LIGHTS = {
    "query": ".lines .queries",
    "keys": ".lines .keys",
    "lines": ".lines .scroll",
    "weights": ".lines .keys small, .terms .weight .bar",
    "flow": ".diagram .flow",
    "vectors": ".st-key-vectors",
    "card": ".st-key-card figure",
    "cells": ".attention-cells",
    "row": ".attention-outline",
    "entropy": ".attention-entropy",
    "equation": ".equation",
    "strips": ".terms tbody .strip-picture",
    "sum": ".terms tfoot .strip-picture",
    "slider": "label.factor",
    "rows": ".grid",
    "heads": ".tiles",
    "arrow": "[data-part=arrow]",
    "dots": "[data-part=dots]",
    "map": "[data-part=left]",
    "left": "[data-part=left]",
    "right": "[data-part=right]",
}

Link = Mapping[str, Sequence[str]]

EMPHASIS = re.compile(r"(?<!\\)\*(.+?)(?<!\\)\*")
ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")  # by a backslash, as in Markdown

CARRIED = "link"  # the lesson that a link carries
HIDDEN = "until answered"
LONGEST_TITLE = 120  # letters that are shown


def lesson_names() -> tuple[str, ...]:
    """The lessons there are; `own` only where the owner has named a folder."""
    return ("guide", *(("own",) if own_lessons_path() else ()), CARRIED)


@functools.cache
def languages() -> Mapping[str, tuple[str, str]]:
    """Languages of the guide: by code the name, and a line on the words that stay English.

    Each but English is a folder in `lessons/`, with these in `language.txt` and a file for each
    chapter that has its words; what else a chapter has is that of the English one.
    """
    found = {"en": ("English", "")}
    for file in sorted(GUIDE.glob("*/language.txt")):
        name, line = file.read_text("utf-8").strip().splitlines()
        found[file.parent.name] = name, line
    return found


def own_lessons_path() -> str | None:
    """The owner's folder of lessons, named by the environment, never by a visitor."""
    return os.environ.get(OWN_LESSONS_VARIABLE) or None


@dataclass(frozen=True)
class LessonSettings:
    """Chapter and lesson that are open, and what was guessed there."""

    lesson: str = choice(
        "guide",
        "Lesson",
        lesson_names,
        help="guide: ours. own: the one of whoever runs this app. link: the one in the link.",
    )
    lang: str = choice(
        "en",
        "Language",
        lambda: tuple(languages()),
        help="That of the guide's chapters; buttons, figures and other pages stay English.",
    )
    chapter: str = text("", "Chapter", 80)
    guess: int = whole(-1, "Guess", -1, MAX_CHOICES - 1, help="-1: none yet.")


@dataclass(frozen=True)
class ReaderSettings:
    """Choices of a reader: in the open chapter's figure, and in all chapters at first."""

    figure_head: int = whole(
        -1, "Head of the figure", -1, MAX_HEADS - 1, help="-1: the chapter's own."
    )
    answered: str = text("", "First choices", 80, help="As a code. Copied links leave it out.")


@dataclass(frozen=True)
class Chapter:
    """One chapter of a lesson, as its file says."""

    file: str
    title: str
    body: str  # the words before the figure
    figure: str  # one of `FIGURES`
    link: Link  # the texts of each setting that the figure is made from
    page: str  # that shows it at exactly that view, "" = none
    question: str
    choices: tuple[str, ...]
    answer: int  # the position of the right choice
    because: str  # said after the guess
    # of a picture, some of `PARTS`, from top to bottom, `away` above all
    parts: tuple[str, ...] = PARTS[:2]
    probes: tuple[str, ...] = ()  # two words that a map measures against
    # settings that a button below the answer changes in the figure
    reveal: Link = field(default_factory=dict)
    settled: bool = False  # whether its own sentence is shown, whatever a visitor has typed
    hidden: str = ""  # `HIDDEN`: its figure comes with the answer
    lesson: str = ""  # of the first chapter the title of all
    hint: str = ""  # what to do at the screen, after the body
    # for each choice what is said before `because`, none of them or all
    replies: tuple[str, ...] = ()
    yours: int = 0  # words from which on a visitor's sentence is shown from the start, 0 = never
    own: str = ""  # why never
    your_hint: str = ""  # the words then, see `yours`
    your_question: str = ""
    your_choices: tuple[str, ...] = ()
    your_because: str = ""

    @property
    def model(self) -> str:
        """The trained model that its link names, "" for none."""
        return self.link.get("model", [""])[-1]

    def where(self, models: Sequence[str]) -> Chapter:
        """Adapt to the models that are installed: without its own, or as that was trained."""
        if not self.model:
            return self
        without = UNTRAINED if self.model in models else ("model",)
        return replace(
            self, link={name: self.link[name] for name in self.link if name not in without}
        )

    @property
    def revealed(self) -> Chapter:
        """Chapter with the settings that the button changes."""
        return replace(self, link={**self.link, **self.reveal}, settled="s" in self.reveal)

    @property
    def name(self) -> str:
        """Its name in links: that of its file without the number in front, which sorts it."""
        return re.sub(r"^\d+[a-z]?-(?=.)", "", Path(self.file).stem)[:80]

    @property
    def sentence(self) -> str | None:
        """Its own sentence, None where its link has none."""
        return self.link["s"][-1] if "s" in self.link else None

    @property
    def plain_title(self) -> str:
        """Its title where no Markdown is read."""
        return _plain(self.title)

    @property
    def plain_question(self) -> str:
        """Its question where no Markdown is read."""
        return _plain(" ".join(self.question.split()))

    @property
    def plain_choices(self) -> tuple[str, ...]:
        """Its choices where no Markdown is read."""
        return tuple(map(_plain, self.choices))

    @property
    def as_text(self) -> Chapter:
        """Chapter with all its words as they are written, none of them read as Markdown."""
        return replace(
            self,
            title=escaped(self.title),
            body=escaped(self.body),
            hint=escaped(self.hint),
            question=escaped(self.question),
            choices=tuple(map(escaped, self.choices)),
            because=escaped(self.because),
            replies=tuple(map(escaped, self.replies)),
            your_hint=escaped(self.your_hint),
            your_question=escaped(self.your_question),
            your_choices=tuple(map(escaped, self.your_choices)),
            your_because=escaped(self.your_because),
        )

    @property
    def minutes(self) -> float:
        """Time that it takes: to read it, to look at its figure and to answer."""
        texts = self.body, self.hint, self.question, *self.choices, self.because
        return FIGURE_MINUTES + sum(len(text.split()) for text in texts) / WORDS_A_MINUTE

    def link_with(self, sentence: str) -> str:
        """The query of a link to its view, with another sentence."""
        said = {"s": [sentence], "target": [sentence]} if "memory" in self.link else {}
        return urlencode({**self.link, "s": [sentence], **said}, doseq=True)


@dataclass(frozen=True)
class Lesson:
    """The chapters that could be read, in order, and in words what is wrong with the others."""

    chapters: tuple[Chapter, ...]
    problems: tuple[str, ...]

    @property
    def summary(self) -> tuple[str, str]:
        """Its title, which is that of its first chapter where none is given, and a line on it."""
        first = self.chapters[0] if self.chapters else None
        return about_lesson(first.lesson or first.plain_title if first else "", len(self.chapters))

    def position(self, wanted: str) -> int | None:
        """The position of the chapter of that name; "": the first; None: there is none."""
        names = [chapter.name for chapter in self.chapters]
        return names.index(wanted) if wanted in names else None if wanted else 0


def about_lesson(title: str, count: int) -> tuple[str, str]:
    """The title of a lesson as it is shown, and a line on it. count: its chapters."""
    chapters = f"{count} short chapter{'' if count == 1 else 's'}"
    words = f"A lesson in {chapters}: a live figure, and a question to answer."
    return plain(" ".join(title.split()))[:LONGEST_TITLE] or "Lesson", words


def without_escapes(text: str) -> str:
    """A text without the backslashes before signs, as Markdown shows it."""
    return ESCAPED.sub(r"\1", text)


def _plain(text: str) -> str:
    """A line of Markdown without its marks."""
    return without_escapes(EMPHASIS.sub(r"\1", text))


def escaped(text: str) -> str:
    """A text that Markdown shows as it is written."""
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", text)
