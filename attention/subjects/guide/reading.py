"""Read lessons: Markdown files of a folder, or one text, to chapters and what is wrong with them.

A chapter begins with its front matter, YAML between two lines `---`, and goes on with the words
that stand before the figure. docs/lessons.md says what each key means.
Anybody may write a lesson into a link, so no text costs more than its length: letters are counted
before anything else is looked at, no pattern goes over a letter more than a few times, and YAML is
read event by event, no further than the first thing that a chapter cannot have.
"""

from __future__ import annotations

import html
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import yaml

from attention.subjects.guide.chapters import (
    FIGURES,
    HIDDEN,
    LIGHTS,
    MAX_CHOICES,
    MIN_CHOICES,
    PARTS,
    Chapter,
    Lesson,
    Link,
    about_lesson,
    without_escapes,
)
from attention.subjects.guide.yours import COUNTS, NAMED, TOKENS

MAX_LESSON, MAX_CHAPTER, MAX_LINE = 60_000, 8_000, 2_000  # letters of one text, of each in it
MAX_LINES = 5_000  # of one text
LINE_ENDS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"  # where `str.splitlines` splits
MAX_BYTES = 4 * MAX_CHAPTER  # of a chapter's file: UTF-8 takes up to 4 for a letter
MAX_WORDS, MAX_CHAPTERS = 90, 100
MAX_KEYS = 30  # of front matter, and texts of a list in it
MAX_OPENED = 200  # brackets of front matter: each within another costs YAML as much as all outside
MAX_NAMES = 100  # of a link
MAX_PROBLEMS = 20  # that are told of a lesson

LONGEST_BEGINNING = 2000  # letters of a text in which its title is looked for
BETWEEN = "==="  # a line between the chapters of a lesson that is one text
KEY = re.compile(r"(?m)^(lesson|title):(.*)$")

LIGHT = re.compile(r"\]\(\s*+#light-([^)\s]*)")
# What no text of a lesson may hold, and why.
FORBIDDEN = (
    (re.compile(r"<[a-zA-Z/!?]"), "HTML is not allowed, only Markdown"),
    (re.compile(r"!\["), "pictures are not allowed"),
)
# What Markdown makes a link of, wherever it stands, or leads to another host within one. No two
# repeats of a pattern take the same letters, so that each is looked at once.
LINKS = (
    re.compile(r"(?i)[a-z\d][+.-]*+://|\bwww\.|\bmailto:"),
    re.compile(r"(?i)\]\(\s*+<?\s*+(//|\\|[a-z][a-z\d+.-]*+:)|^\s{0,3}\[[^\]]*+\]:"),
    re.compile(r"(^|[\s(<>])[/\\]{2}\w"),
)

# Told by the line where they begin, not by the later one where their end is missed.
UNFINISHED = ("while scanning a simple key", "while scanning a quoted scalar")
YAML = getattr(yaml, "CBaseLoader", yaml.BaseLoader)  # libyaml's, where PyYAML was built with it

Check = Callable[[Link, str], Sequence[str]]
Value = str | list[str]  # in front matter; to YAML's usual loader `no` is False
Reads = Callable[[str, Value], Any]


class LessonError(ValueError):
    """All that is wrong with a chapter, in words with the file and the line, in their order."""

    def __init__(self, file: str, problems: Iterable[tuple[int, str]]) -> None:
        self.problems = tuple(
            f"{file}, line {line}: {problem}."
            for line, problem in sorted(problems, key=lambda each: each[0])
        )
        super().__init__("\n".join(self.problems))


class Wrong(ValueError):
    """A mistake after which the rest of a chapter cannot be read. line: from 1."""

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(problem)
        self.line = line


def read_lesson(folder: Path, check: Check, words: Path | None = None) -> Lesson:
    """All chapters of a folder, sorted by the names of their files; hidden files are left out.

    words: a folder in which files of the same names have the words in another language.

    check: a link and the name of a page, "" for none -> in words what of them is unknown.
    What is wrong in one file leaves the others as they are.
    """
    try:
        files = sorted(file for file in folder.glob("*.md") if not file.name.startswith("."))
    except OSError as error:
        return Lesson((), (f"The folder of lessons cannot be read: {error.strerror}.",))
    if not files:
        return Lesson((), ("The folder of lessons has no files whose names end in .md.",))
    return _lesson(
        [partial(read_chapter, file, check, words and words / file.name) for file in files]
    )


def read_text(text: str, check: Check) -> Lesson:
    """All chapters of one text, between lines `===`, each as its file would be; see `read_lesson`.

    What is wrong is told with its line in the whole text.
    """
    if problem := _too_long(text):
        return Lesson((), (f"The lesson has more than {problem}.",))
    return _lesson(
        [
            partial(_chapter, chapter_name(number), lines, check, before)
            for number, (before, lines) in enumerate(split(text), 1)
        ]
    )


def _too_long(text: str) -> str:
    """The bound that one text exceeds, "" where it exceeds none. Nothing of it is split."""
    if len(text) > MAX_LESSON:
        return f"{MAX_LESSON:,} letters"
    ends = sum(map(text.count, LINE_ENDS)) - text.count("\r\n")
    return f"{MAX_LINES:,} lines" if ends > MAX_LINES else ""


def chapter_name(number: int) -> str:
    """The name of a chapter of one text. number: counted from 1."""
    return f"chapter {number}"


def split(text: str) -> list[tuple[int, list[str]]]:
    """The lines of each chapter of one text, and the number of lines above them."""
    parts: list[tuple[int, list[str]]] = [(0, [])]
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), 1):
        if line.rstrip() == BETWEEN:
            parts.append((number, []))
        elif parts[-1][1] or line.strip():
            parts[-1][1].append(line)
        else:  # an empty line before the chapter's first one
            parts[-1] = (number, [])
    return parts


def _lesson(there: Sequence[Callable[[], Chapter]]) -> Lesson:
    """The first chapters of those there are, and the first of all problems."""
    chapters: list[Chapter] = []
    problems: list[str] = []
    for read in there[:MAX_CHAPTERS]:
        try:
            chapters.append(read())
        except LessonError as error:
            problems += error.problems
    told = problems[:MAX_PROBLEMS]
    if more := len(problems) - len(told):
        told.append(f"{more} more mistakes are not listed.")
    if len(there) > MAX_CHAPTERS:
        told.append(f"Only the first {MAX_CHAPTERS} of {len(there)} chapters are shown.")
    return Lesson(tuple(chapters), tuple(told))


def text_told(text: str) -> tuple[str, str]:
    """The title of a lesson that is one text, and a line on it, without reading the rest of it.

    Raises ValueError where it has too many letters or lines to be read.
    """
    if problem := _too_long(text):
        raise ValueError(f"a lesson has up to {problem}")
    count = sum(line.rstrip() == BETWEEN for line in text.splitlines()) + 1
    begun = text[:LONGEST_BEGINNING]
    said = {name: value.strip() for name, value in reversed(KEY.findall(begun))}
    title = said.get("lesson", said.get("title", ""))
    return about_lesson(title[1:-1] if title[:1] == title[-1:] in ("'", '"') else title, count)


def read_chapter(file: Path, check: Check, words: Path | None = None) -> Chapter:
    """One chapter. Raises LessonError that names the file, the lines and what is wrong there.

    words: a file that has its words in another language, if there is one: under the same keys.
    """
    lines = _lines(file)
    if words is None or words == file or not words.exists():
        return _chapter(file.name, lines, check)
    return _chapter(file.name, _lines(words), check, beside=front_matter(lines)[1])


def _lines(file: Path) -> list[str]:
    """The lines of a file. Raises LessonError where it cannot be read."""
    try:
        with file.open("rb") as opened:
            content = opened.read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            raise LessonError(file.name, [(1, f"the file has more than {MAX_BYTES:,} bytes")])
        text = content.decode("utf-8")
    except OSError as error:
        said = f"the file cannot be read: {error.strerror}"
        raise LessonError(file.name, [(1, said)]) from error
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise LessonError(file.name, [(line, "the text is not UTF-8")]) from error
    return text.removeprefix("\ufeff").splitlines()


def _chapter(
    file: str,
    lines: Sequence[str],
    check: Check,
    before: int = 0,
    beside: Mapping[str, tuple[int, Value]] | None = None,
) -> Chapter:
    """The chapter of some lines, all of it checked.

    before: the lines above it in the same text; beside: front matter for what it does not give.
    Raises LessonError with all that is wrong.
    """
    problems: list[tuple[int, str]] = []
    try:
        end, given = front_matter(lines)
        values = _values({**(beside or {}), **given}, _keys(check), end, problems)
        body = _body(lines[end:], end)
    except Wrong as error:
        problems.append((error.line, str(error)))
    if problems:
        raise LessonError(file, [(line + before, problem) for line, problem in problems])
    hints = {"hint": values.pop("try", ""), "your_hint": values.pop("your_try", "")}
    title = Path(file).stem.capitalize()
    optional = {"title": title, "link": {}, "page": "", "because": "", **hints}
    return Chapter(file=file, body=body, **optional | values)


def front_matter(lines: Sequence[str]) -> tuple[int, dict[str, tuple[int, Value]]]:
    """The line that ends a chapter's front matter, and under each key its line and its value.

    Raises Wrong where it cannot be read, or has too many letters.
    """
    _count(lines)
    end = _front_matter_end(lines)
    opened = itertools.accumulate(line.count("[") + line.count("{") for line in lines[:end])
    for number, count in enumerate(opened, 1):
        if count > MAX_OPENED:
            raise Wrong(number, f"the front matter opens more than {MAX_OPENED} brackets")
    return end, _front_matter("\n".join(lines[1 : end - 1]))


def _count(lines: Sequence[str]) -> None:
    """Raise Wrong where a line, or all of them, have too many letters."""
    letters = 0
    for number, line in enumerate(lines, 1):
        if len(line) > MAX_LINE:
            raise Wrong(number, f"the line has more than {MAX_LINE:,} letters")
        letters += len(line) + 1
        if letters > MAX_CHAPTER:
            raise Wrong(number, f"the chapter has more than {MAX_CHAPTER:,} letters")


def _front_matter_end(lines: Sequence[str]) -> int:
    """The line that ends the front matter, from 1."""
    marks = [number for number, line in enumerate(lines, 1) if line.rstrip() == "---"]
    if marks[:1] != [1]:
        raise Wrong(1, "a lesson begins with a line ---, then its title and so on")
    if len(marks) < 2:
        raise Wrong(len(lines), "the line --- that ends the front matter is missing")
    return marks[1]


def _front_matter(text: str) -> dict[str, tuple[int, Value]]:
    """Under each key the line of the chapter in which it stands, and its value."""
    if found := yaml.reader.Reader.NON_PRINTABLE.search(text):
        line = text.count("\n", 0, found.start()) + 2
        raise Wrong(line, f"the character U+{ord(found[0]):04X} cannot be read")
    try:
        return _mapping(yaml.parse(text, Loader=YAML))
    except yaml.MarkedYAMLError as error:
        begun = error.context_mark if error.context in UNFINISHED else None
        line = (begun or error.problem_mark).line + 2
        hint = "texts with a colon or a # in them need quotes"
        raise Wrong(line, f"the YAML is wrong: {error.problem}; {hint}") from error


def _mapping(events: Iterator[Any]) -> dict[str, tuple[int, Value]]:
    """Texts and lists of texts by their keys, from the events of YAML. Reads on up to a mistake."""
    first = [*itertools.islice(events, 3)][-1]
    line = first.start_mark.line + 2
    if not isinstance(first, yaml.MappingStartEvent):
        raise Wrong(line, "the front matter must be lines such as title: Scores")
    found: dict[str, tuple[int, Value]] = {}
    for event in events:
        line = event.start_mark.line + 2
        if isinstance(event, yaml.MappingEndEvent):
            break
        if not isinstance(event, yaml.ScalarEvent):
            raise Wrong(line, "a key must be text")
        if event.value in found:
            raise Wrong(line, f"{_short(event.value)} is given twice")
        if len(found) == MAX_KEYS:
            raise Wrong(line, f"the front matter has more than {MAX_KEYS} keys")
        found[event.value] = line, _value(event.value, line, events)
    if len([*itertools.islice(events, 3)]) > 2:
        raise Wrong(line, "the front matter must end with the first line ---")
    return found


def _value(name: str, line: int, events: Iterator[Any]) -> Value:
    event = next(events)
    if isinstance(event, yaml.ScalarEvent):
        return str(event.value)
    texts: list[str] = []
    if isinstance(event, yaml.SequenceStartEvent):
        for event in events:
            if isinstance(event, yaml.SequenceEndEvent):
                return texts
            if not isinstance(event, yaml.ScalarEvent) or len(texts) == MAX_KEYS:
                break
            texts.append(event.value)
    raise Wrong(line, f"{_short(name)} must be text, or a list of up to {MAX_KEYS} texts")


def _keys(check: Check) -> Mapping[str, tuple[Reads, bool]]:
    """Every key of front matter: how its value is read, and whether it must be given."""
    return {
        "title": (_one_line, False),  # it becomes a heading
        "figure": (_one_of(FIGURES), True),
        "question": (_words, True),
        "choices": (_some(_words, MIN_CHOICES, MAX_CHOICES), True),
        "answer": (_words, True),
        "because": (_words, False),
        "replies": (_some(_maybe_words, MIN_CHOICES, MAX_CHOICES, apart=False), False),
        "hidden": (_one_of([HIDDEN]), False),
        "lesson": (_words, False),
        "try": (_words, False),
        "link": (partial(_link, check), False),
        "page": (partial(_page, check), False),
        "parts": (_some(_one_of(PARTS), 1, len(PARTS)), False),
        "probes": (_some(_words, 1, 2), False),
        "reveal": (partial(_link, check), False),
        "yours": (_number, False),
        "own": (_words, False),
        "your_try": (_your_words, False),
        "your_question": (_your_words, False),
        "your_choices": (_some(_your_words, MIN_CHOICES, MAX_CHOICES), False),
        "your_because": (_your_words, False),
    }


def _values(
    given: Mapping[str, tuple[int, Value]],
    keys: Mapping[str, tuple[Reads, bool]],
    end: int,
    problems: list[tuple[int, str]],
) -> dict[str, Any]:
    """The values of all keys that are given, as the fields of a chapter; adds to the problems."""
    values: dict[str, Any] = {}
    if missing := [name for name, (_, needed) in keys.items() if needed and name not in given]:
        problems.append((end, f"{', '.join(missing)} must be given"))
    for name, (line, value) in given.items():
        try:
            if name not in keys:
                raise ValueError(f"{_short(name)} is unknown; known are {', '.join(keys)}")
            values[name] = keys[name][0](name, value)
        except ValueError as error:
            problems.append((line, str(error)))
    if "choices" in values and "answer" in values:
        try:
            values["answer"] = _answer(values["answer"], values["choices"])
        except ValueError as error:
            problems.append((given["answer"][0], str(error)))
    replies, choices = values.get("replies", ()), values.get("choices", ())
    if replies and choices and len(replies) != len(choices):
        told = f"replies must be one for each of the {len(choices)} choices, got {len(replies)}"
        problems.append((given["replies"][0], told))
    yours = values.get("your_choices", ())
    if yours and choices and len(yours) != len(choices):
        told = f"your_choices must be {len(choices)} as the choices are, got {len(yours)}"
        problems.append((given["your_choices"][0], told))
    return values


def _words(name: str, value: Value) -> str:
    """A value as a text that may be shown as Markdown."""
    if not isinstance(value, str):
        raise ValueError(f"{name} must be text; put it in quotes")
    text = value.strip()
    if not text:
        raise ValueError(f"{name} is empty")
    if problem := _forbidden(text):
        raise ValueError(problem)
    return text


def _your_words(name: str, value: Value) -> str:
    """A text that names tokens of a visitor's sentence in braces."""
    text = _words(name, value)
    for braced in NAMED.findall(text):
        if braced not in (known := (*TOKENS, *COUNTS)):
            raise ValueError(f"{_short(braced)} cannot be named; known are {', '.join(known)}")
    return text


def _number(name: str, value: Value) -> int:
    text = _words(name, value)
    if not (text.isascii() and text.isdigit() and 0 < int(text[:4]) < MAX_WORDS):
        raise ValueError(f"{name} must be a number of words, not {_short(text)}")
    return int(text)


def _maybe_words(name: str, value: Value) -> str:
    return _words(name, value) if value else ""


def _one_line(name: str, value: Value) -> str:
    return " ".join(_words(name, value).split())


def _one_of(known: Sequence[str]) -> Callable[[str, Value], str]:
    def read(name: str, value: Value) -> str:
        text = _words(name, value)
        if text not in known:
            raise ValueError(f"{name} must be one of {', '.join(known)}, not {_short(text)}")
        return text

    return read


def _some(
    read_one: Callable[[str, Value], str], least: int, most: int, apart: bool = True
) -> Reads:
    """Read a list of texts. apart: no two of them may be the same."""

    def read(name: str, value: Value) -> tuple[str, ...]:
        if not isinstance(value, list) or not least <= len(value) <= most:
            count = f"{least} to {most}"
            raise ValueError(f"{name} must be a list of {count} texts, as in [one, two]")
        texts = tuple(read_one(f"a text of {name}", text) for text in value)
        if apart and len(set(texts)) < len(texts):
            raise ValueError(f"{name} has the same text twice")
        return texts

    return read


def _answer(text: str, choices: Sequence[str]) -> int:
    """The position of the right choice: given by its text, or counted from 1."""
    if text in choices:
        return choices.index(text)
    if text in map(str, range(1, len(choices) + 1)):
        return int(text) - 1
    raise ValueError(
        f"answer must be one of the choices, or a number from 1 to {len(choices)}, "
        f"not {_short(text)}"
    )


def _link(check: Check, name: str, value: Value) -> Link:
    if not isinstance(value, str):
        raise ValueError(f"{name} must be text; put it in quotes")
    query = value.strip().removeprefix("?")
    if query.count("&") >= MAX_NAMES:
        raise ValueError(f"{name} has more than {MAX_NAMES} values")
    try:
        texts = parse_qs(query, keep_blank_values=True, strict_parsing=bool(query))
    except ValueError:
        raise ValueError(f"{name} must be written as name=value&name=value") from None
    if problems := check(texts, ""):
        raise ValueError(f"{name}: {problems[0].rstrip('.')}")
    return texts


def _page(check: Check, name: str, value: Value) -> str:
    page = _words(name, value)
    if problems := check({}, page):
        raise ValueError(f"{name}: {problems[0].rstrip('.')}")
    return page


def _body(lines: Sequence[str], end: int) -> str:
    """The words before the figure. end: the line above them."""
    words = 0
    for number, line in enumerate(lines, end + 1):
        if problem := _forbidden(line):
            raise Wrong(number, problem)
        words += len(line.split())
        if words > MAX_WORDS:
            raise Wrong(number, f"the text before the figure has more than {MAX_WORDS} words")
    return "\n".join(lines).strip()


def _forbidden(text: str) -> str | None:
    """Why a text may not be shown, None where it may: as it stands, and as Markdown reads it."""
    for line in text.splitlines():
        for pattern, why in FORBIDDEN:
            if pattern.search(line):
                return why
        read = line, html.unescape(without_escapes(line))
        if any(pattern.search(words) for pattern in LINKS for words in read):
            return "links to other hosts are not allowed"
        for name in LIGHT.findall(line):
            if name not in LIGHTS:
                return f"{_short(name)} cannot be lit; known are {', '.join(LIGHTS)}"
    return None


def _short(text: str) -> str:
    return f"“{text[:40]}”"
