"""Lessons are folders of Markdown files: what a chapter is, and how its file is read.

A file begins with its front matter, YAML between two lines `---`, and goes on with the words that
stand before the figure. README.md says what each key means, under "Write a lesson".
"""

from __future__ import annotations

import html
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode

import yaml

from attention.core.settings import choice, text, whole
from attention.inputs.text import plain

# The chapters of the guide in the order in which older links number them, from 0.
NUMBERED = (
    *("one-word", "rows-of-numbers", "scores", "softmax", "weighted-sum", "square-root"),
    *("queries-keys-values", "masks", "many-heads", "order", "two-sentences", "trained"),
)
OWN_LESSONS_VARIABLE = "ATTENTION_LESSONS"
GUIDE = Path(__file__).parent / "guide"

FIGURES = ("picture", "compare", "sweep", "heads", "map", "spread", "vectors", "finale")
PARTS = ("lines", "heatmap", "sum", "away", "diagram")
FURTHER = ("alignment",)
NEEDED = ("title", "figure", "question", "choices", "answer", "because")
TEXTS = ("title", "question", "because", "lesson", "try")
OPTIONAL = ("lesson", "try", "link", "page", "parts", "probes", "after", "reveal")
# What a chapter's link says for the case that its trained model is not installed.
UNTRAINED = ("memory", "mask")
MAX_WORDS, MAX_CHAPTERS, MAX_BYTES = 90, 100, 1 << 16
MIN_CHOICES, MAX_CHOICES = 2, 4

# What [words](#light-name) can light in a figure: by name the elements, as CSS selects them.
LIGHTS = {
    "query": ".lines .queries",
    "keys": ".lines .keys",
    "lines": ".lines .scroll",
    "weights": ".lines .keys small, .terms .weight .bar",
    "flow": ".diagram .flow",
    "vectors": ".st-key-vectors",
    "card": ".st-key-card img",
    "cells": ".attention-cells",
    "row": ".attention-outline",
    "entropy": ".attention-entropy",
    "equation": ".equation",
    "strips": ".terms tbody .strip-picture",
    "sum": ".terms tfoot .strip-picture",
    "slider": ".slider",
    "a": ".row figure:nth-of-type(1) .box",
    "b": ".row figure:nth-of-type(2) .box",
    "change": ".row figure:nth-of-type(3) .box",
    "divergence": ".row figure:nth-of-type(4) .box",
    "heads": ".tiles",
    "arrow": ".annotation-arrow-g",
    "map": ".draglayer .xy .nsewdrag",
    "left": ".draglayer .xy .nsewdrag",
    "right": ".draglayer .x2y2 .nsewdrag",
}
LIGHT = re.compile(r"\]\(\s*#light-([^)\s]*)")

Link = Mapping[str, Sequence[str]]
Check = Callable[[Link, str], Sequence[str]]

# What no text of a lesson may hold, and why.
FORBIDDEN = (
    (re.compile(r"<[a-zA-Z/!?]"), "HTML is not allowed, only Markdown"),
    (re.compile(r"!\["), "pictures are not allowed"),
)
# What Markdown makes a link of, wherever it stands, or leads to another host within one.
LINKS = (
    re.compile(r"(?i)[a-z][a-z+.-]*://|\bwww\.|\bmailto:"),
    re.compile(r"(?i)\]\(\s*<?\s*(//|\\|[a-z][a-z+.-]*:)|^\s{0,3}\[[^\]]*\]:"),
    re.compile(r"(^|[\s(<>])[/\\]{2}\w"),
)
EMPHASIS = re.compile(r"(?<!\\)\*(.+?)(?<!\\)\*")
ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")  # by a backslash, as in Markdown


CARRIED = "link"  # the lesson that a link carries
KEY = re.compile(r"(?m)^(lesson|title):(.*)$")
LONGEST_BEGINNING = 2000  # letters of a text in which its title is looked for
LONGEST_TITLE = 120  # letters that are shown
BETWEEN = "==="  # a line between the chapters of a lesson that is one text


class LessonError(ValueError):
    """What is wrong with a lesson, with the file and the line in which it stands."""

    def __init__(self, file: str, line: int, problem: str) -> None:
        super().__init__(f"{file}, line {line}: {problem}.")
        self.line = line


class LessonErrors(ValueError):
    """All that is wrong with a chapter, in words, in the order of its lines."""

    def __init__(self, errors: Sequence[LessonError]) -> None:
        self.problems = tuple(str(error) for error in errors)
        super().__init__("\n".join(self.problems))


def lesson_names() -> tuple[str, ...]:
    """The lessons there are; `own` only where the owner has named a folder."""
    return ("guide", *(("own",) if own_lessons_path() else ()), CARRIED)


def own_lessons_path() -> str | None:
    """The owner's folder of lessons, named by the environment, never by a visitor."""
    return os.environ.get(OWN_LESSONS_VARIABLE) or None


@dataclass(frozen=True)
class LessonSettings:
    """Which chapter of which lesson is open, and what was guessed in it."""

    lesson: str = choice(
        "guide",
        "Lesson",
        lesson_names,
        help="guide: ours. own: the one of whoever runs this app. link: the one in the link.",
    )
    chapter: str = text("", "Chapter", 80)
    guess: int = whole(-1, "Guess", -1, MAX_CHOICES - 1, help="-1: none yet.")


@dataclass(frozen=True)
class Chapter:
    """One chapter of a lesson, as its file says.

    body: the words before the figure; figure: one of `FIGURES`; link: the texts of each setting
    that the figure is made from; page: which page shows it at exactly that view, "" for none;
    answer: the position of the right choice; because: what is said after the guess;
    parts: of a picture, some of `PARTS`, from top to bottom, `away` above all; probes: two words
    that a map measures against; after: a further figure that follows the answer, one of `FURTHER`,
    "" for none; reveal: the settings that a button below the answer changes in the figure; settled:
    whether its own sentence is shown, whatever a visitor has typed; lesson: of the first chapter
    the title of all, "" for none; hint: what to do at the screen, after the body.
    """

    file: str
    title: str
    body: str
    figure: str
    link: Link
    page: str
    question: str
    choices: tuple[str, ...]
    answer: int
    because: str
    parts: tuple[str, ...] = PARTS[:2]
    probes: tuple[str, ...] = ()
    after: str = ""
    reveal: Link = field(default_factory=dict)
    settled: bool = False
    lesson: str = ""
    hint: str = ""

    @property
    def model(self) -> str:
        """The trained model that its link names, "" for none."""
        return self.link.get("model", [""])[-1]

    def where(self, models: Sequence[str]) -> Chapter:
        """The same where these models are installed: without its own, or as that was trained."""
        if not self.model:
            return self
        without = UNTRAINED if self.model in models else ("model",)
        return replace(
            self, link={name: self.link[name] for name in self.link if name not in without}
        )

    @property
    def revealed(self) -> Chapter:
        """The same with the settings that the button changes."""
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
    def plain_choices(self) -> tuple[str, ...]:
        """Its choices where no Markdown is read."""
        return tuple(map(_plain, self.choices))

    @property
    def as_text(self) -> Chapter:
        """The same with all its words as they are written, none of them read as Markdown."""
        return replace(
            self,
            title=_escaped(self.title),
            body=_escaped(self.body),
            hint=_escaped(self.hint),
            question=_escaped(self.question),
            choices=tuple(map(_escaped, self.choices)),
            because=_escaped(self.because),
        )

    def words_about(self, shown: str) -> str:
        """Which sentence its words are about where its figure shows another one, "" elsewhere."""
        settled = self.settled or self.figure == "spread"
        if self.sentence in (None, shown) or settled or not shown.strip():
            return ""
        return (
            f"This chapter speaks of its own sentence, “{self.sentence}”. The figure shows yours."
        )

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
    def told(self) -> tuple[str, str]:
        """Its title, which is that of its first chapter where none is given, and a line on it."""
        first = self.chapters[0] if self.chapters else None
        return _told(first.lesson or first.plain_title if first else "", len(self.chapters))

    def position(self, wanted: str, numbered: Sequence[str]) -> int | None:
        """The position of the chapter that a link asks for; "": the first; None: there is none.

        wanted: its name, or as older links have it a number counted from 0; numbered: the names
        that such numbers mean, empty where they count the chapters there are. A number beyond the
        last means the last.
        """
        names = [chapter.name for chapter in self.chapters]
        if wanted.isascii() and wanted.isdigit() and wanted not in names:
            known = numbered or names
            wanted = known[min(int(wanted[:4]), len(known) - 1)] if known else wanted
        return names.index(wanted) if wanted in names else None if wanted else 0


def read_lesson(folder: Path, check: Check) -> Lesson:
    """All chapters of a folder, sorted by the names of their files; hidden files are left out.

    check: a link and the name of a page, "" for none -> in words what of them is unknown.
    What is wrong in one file leaves the others as they are.
    """
    try:
        files = sorted(file for file in folder.glob("*.md") if not file.name.startswith("."))
    except OSError as error:
        return Lesson((), (f"The folder of lessons cannot be read: {error.strerror}.",))
    if not files:
        return Lesson((), ("The folder of lessons has no files whose names end in .md.",))
    chapters, problems = [], []
    for file in files[:MAX_CHAPTERS]:
        try:
            chapters.append(read_chapter(file, check))
        except ValueError as error:
            problems.extend(str(error).splitlines())
    if len(files) > MAX_CHAPTERS:
        problems.append(f"Only the first {MAX_CHAPTERS} of {len(files)} chapters are shown.")
    return Lesson(tuple(chapters), tuple(problems))


def read_text(text: str, check: Check) -> Lesson:
    """All chapters of one text, between lines `===`, each as its file would be; see `read_lesson`.

    What is wrong is told with its line in the whole text.
    """
    parts: list[tuple[int, list[str]]] = [(0, [])]
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), 1):
        if line.rstrip() == BETWEEN:
            parts.append((number, []))
        elif parts[-1][1] or line.strip():
            parts[-1][1].append(line)
        else:  # an empty line before the chapter's first one
            parts[-1] = (number, [])
    chapters, problems = [], []
    for number, (before, lines) in enumerate(parts[:MAX_CHAPTERS], 1):
        try:
            chapters.append(_Reader(f"chapter {number}", lines, check, before).chapter())
        except ValueError as error:
            problems.extend(str(error).splitlines())
    if len(parts) > MAX_CHAPTERS:
        problems.append(f"Only the first {MAX_CHAPTERS} of {len(parts)} chapters are shown.")
    return Lesson(tuple(chapters), tuple(problems))


def text_told(text: str) -> tuple[str, str]:
    """The title of a lesson that is one text, and a line on it, without reading the rest of it."""
    count = sum(line.rstrip() == BETWEEN for line in text.splitlines()) + 1
    begun = text[:LONGEST_BEGINNING]
    said = {name: value.strip() for name, value in reversed(KEY.findall(begun))}
    title = said.get("lesson", said.get("title", ""))
    return _told(title[1:-1] if title[:1] == title[-1:] in ("'", '"') else title, count)


def _told(title: str, count: int) -> tuple[str, str]:
    chapters = f"{count} short chapter{'' if count == 1 else 's'}"
    words = f"A lesson in {chapters}: a live figure, and a question to answer."
    return plain(" ".join(title.split()))[:LONGEST_TITLE] or "Lesson", words


def read_chapter(file: Path, check: Check) -> Chapter:
    """One chapter. Raises ValueError that names the file, the line and what is wrong there."""
    try:
        content = file.read_bytes()
        text = content[: MAX_BYTES + 1].decode("utf-8")
    except OSError as error:
        raise LessonError(file.name, 1, f"the file cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise LessonError(file.name, line, "the text is not UTF-8") from error
    if len(content) > MAX_BYTES:
        raise LessonError(file.name, 1, f"the file has more than {MAX_BYTES >> 10} kB")
    return _Reader(file.name, text.removeprefix("\ufeff").splitlines(), check).chapter()


class _Reader:
    """The lines of one file on their way to a chapter; knows in which line each key stands."""

    def __init__(self, file: str, lines: list[str], check: Check, before: int = 0) -> None:
        self.file, self.check, self.before = file, check, before
        if not lines or lines[0].rstrip() != "---":
            raise self._error(1, "a lesson begins with a line ---, then its title and so on")
        ends = [index for index, line in enumerate(lines) if index and line.rstrip() == "---"]
        if not ends:
            raise self._error(len(lines), "the line --- that ends the front matter is missing")
        self.end = ends[0] + 1
        self.body = lines[ends[0] + 1 :]
        self.values, self.lines = self._front_matter("\n".join(lines[1 : ends[0]]))

    def refuse(self, where: str, problem: str) -> LessonError:
        """The error to raise for what stands under a key, or is missing."""
        return self._error(self.lines.get(where, self.end), problem)

    def chapter(self) -> Chapter:
        """The chapter, all of it checked; raises LessonErrors with all that is wrong."""
        errors: list[LessonError] = []

        def part(read: Callable[..., Any], *arguments: Any) -> Any:
            """What is read, None where it is wrong."""
            try:
                return read(*arguments)
            except LessonError as error:
                errors.append(error)

        for name in self.values:
            if name not in NEEDED + OPTIONAL:
                known = ", ".join(NEEDED + OPTIONAL)
                errors.append(self.refuse(name, f"{_short(name)} is unknown; known are {known}"))
        if missing := [name for name in NEEDED if name not in self.values]:
            errors.append(self._error(self.end, f"{', '.join(missing)} must be given"))
        given = {name: part(self._text, name) for name in TEXTS if name in self.values}
        link, reveal = part(self._link, "link"), part(self._link, "reveal")
        page = part(self._page)
        choices = (
            part(self._some, "choices", MIN_CHOICES, MAX_CHOICES) if self._has("choices") else ()
        )
        answer = part(self._answer, choices) if choices and self._has("answer") else 0
        probes = part(self._some, "probes", 1, 2) if self._has("probes") else ()
        figure = part(self._one_of, "figure", FIGURES) if self._has("figure") else ""
        parts, body = part(self._parts), part(self._body)
        after = part(self._one_of, "after", FURTHER) if self._has("after") else ""
        if errors:
            raise LessonErrors(sorted(errors, key=lambda error: error.line))
        return Chapter(
            file=self.file,
            title=" ".join(given["title"].split()),  # it becomes a heading, which is one line
            body=body,
            figure=figure,
            link=link,
            page=page,
            question=given["question"],
            choices=choices,
            answer=answer,
            because=given["because"],
            parts=parts,
            probes=probes,
            after=after,
            reveal=reveal,
            lesson=given.get("lesson", ""),
            hint=given.get("try", ""),
        )

    def _error(self, line: int, problem: str) -> LessonError:
        return LessonError(self.file, line + self.before, problem)

    def _has(self, name: str) -> bool:
        return name in self.values

    def _front_matter(self, text: str) -> tuple[dict[str, Any], dict[str, int]]:
        """Its values, and the line of the file in which each stands.

        All that is no list is read as text and nothing else: to the usual loader `no` is False.
        """
        try:
            node = yaml.compose(text, Loader=yaml.BaseLoader)
            values = yaml.load(text, Loader=yaml.BaseLoader)
        except (yaml.YAMLError, ValueError, RecursionError) as error:
            mark = getattr(error, "problem_mark", None)
            problem = getattr(error, "problem", None) or "it cannot be read"
            line = mark.line + 2 if mark else 2
            hint = "texts with a colon or a # in them need quotes"
            raise self._error(line, f"the YAML is wrong: {problem}; {hint}") from error
        if not isinstance(values, dict):
            raise self._error(2, "the front matter must be lines such as title: Scores")
        lines: dict[str, int] = {}
        for key, _ in node.value:
            name, line = str(key.value), key.start_mark.line + 2
            if name in lines:
                raise self._error(line, f"{_short(name)} is given twice")
            lines[name] = line
        return {str(name): value for name, value in values.items()}, lines

    def _text(self, name: str) -> str:
        return self._sound(name, self.values[name])

    def _sound(self, name: str, value: object) -> str:
        """A value as a text that may be shown as Markdown."""
        if not isinstance(value, str):
            raise self.refuse(name, f"{name} must be text; put it in quotes")
        text = value.strip()
        if not text:
            raise self.refuse(name, f"{name} is empty")
        if problem := _forbidden(text) or _dark(text):
            raise self.refuse(name, problem)
        return text

    def _some(self, name: str, least: int, most: int) -> tuple[str, ...]:
        values = self.values[name]
        if not isinstance(values, list) or not least <= len(values) <= most:
            count = f"{least} to {most}"
            raise self.refuse(name, f"{name} must be a list of {count} texts, as in [one, two]")
        texts = tuple(self._sound(name, value) for value in values)
        if len(set(texts)) < len(texts):
            raise self.refuse(name, f"{name} has the same text twice")
        return texts

    def _one_of(self, name: str, known: Sequence[str]) -> str:
        text = self._text(name)
        if text not in known:
            raise self.refuse(name, f"{name} must be one of {', '.join(known)}, not {_short(text)}")
        return text

    def _parts(self) -> tuple[str, ...]:
        if "parts" not in self.values:
            return PARTS[:2]
        parts = self._some("parts", 1, len(PARTS))
        for part in parts:
            if part not in PARTS:
                known = ", ".join(PARTS)
                raise self.refuse("parts", f"parts must be some of {known}, not {_short(part)}")
        return parts

    def _answer(self, choices: tuple[str, ...]) -> int:
        """The position of the right choice: given by its text, or counted from 1."""
        text = self._text("answer")
        if text in choices:
            return choices.index(text)
        if text.isascii() and text.isdigit() and 1 <= int(text) <= len(choices):
            return int(text) - 1
        raise self.refuse(
            "answer",
            f"answer must be one of the choices, or a number from 1 to {len(choices)}, "
            f"not {_short(text)}",
        )

    def _link(self, name: str) -> Link:
        link = self.values.get(name, "")
        if not isinstance(link, str):
            raise self.refuse(name, f"{name} must be text; put it in quotes")
        query = link.strip().removeprefix("?")
        try:
            texts = parse_qs(query, keep_blank_values=True, strict_parsing=bool(query))
        except ValueError as error:
            raise self.refuse(name, f"{name} must be written as name=value&name=value") from error
        if problems := self.check(texts, ""):
            raise self.refuse(name, f"{name}: {problems[0].rstrip('.')}")
        return texts

    def _page(self) -> str:
        page = self._text("page") if "page" in self.values else ""
        if problems := self.check({}, page):
            raise self.refuse("page", f"page: {problems[0].rstrip('.')}")
        return page

    def _body(self) -> str:
        words = 0
        for number, line in enumerate(self.body, self.end + 1):
            if problem := _forbidden(line) or _dark(line):
                raise self._error(number, problem)
            words += len(line.split())
            if words > MAX_WORDS:
                problem = f"the text before the figure has more than {MAX_WORDS} words"
                raise self._error(number, problem)
        if not words:
            raise self._error(self.end, "the text after the front matter is missing")
        return "\n".join(self.body).strip()


def _forbidden(text: str) -> str | None:
    """Why a text may not be shown, None where it may: as it stands, and as Markdown reads it."""
    for line in text.splitlines():
        for pattern, why in FORBIDDEN:
            if pattern.search(line):
                return why
        read = line, html.unescape(ESCAPED.sub(r"\1", line))
        if any(pattern.search(words) for pattern in LINKS for words in read):
            return "links to other hosts are not allowed"
    return None


def _plain(text: str) -> str:
    """A line of Markdown without its marks."""
    return ESCAPED.sub(r"\1", EMPHASIS.sub(r"\1", text))


def _escaped(text: str) -> str:
    """A text that Markdown shows as it is written."""
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", text)


def _dark(line: str) -> str | None:
    """What words of a line would light that there is not, None where there is all of it."""
    for name in LIGHT.findall(line):
        if name not in LIGHTS:
            return f"{_short(name)} cannot be lit; known are {', '.join(LIGHTS)}"
    return None


def _short(text: str) -> str:
    return f"“{text[:40]}”"
