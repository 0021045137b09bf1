"""Read lessons: Markdown files of a folder, or one text, to chapters and what is wrong with them.

A chapter begins with its front matter, YAML between two lines `---`, and goes on with the words
that stand before the figure. docs/lessons.md says what each key means.
Anybody may write a lesson into a link, so no text costs more than its length: letters, and whatever
can be nested, are counted before YAML or Markdown is read.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import yaml
from markdown_it import MarkdownIt
from markdown_it.token import Token

from attention.subjects.guide import chapters
from attention.subjects.guide.chapters import LIGHTS, Chapter, Lesson, Link, about_lesson
from attention.subjects.guide.yours import COUNTS, NAMED, TOKENS

MAX_LESSON, MAX_CHAPTER, MAX_LINE = 60_000, 8_000, 2_000  # letters of one text, of each in it
MAX_LINES = 5_000  # of one text
LINE_ENDS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"  # where `str.splitlines` splits
MAX_BYTES = 4 * MAX_CHAPTER  # of a chapter's file: UTF-8 takes up to 4 for a letter
MAX_WORDS, MAX_CHAPTERS = 90, 100
MAX_KEYS = 30  # of front matter, and texts of a list in it
MAX_OPENED = 200  # lists of front matter: each within another costs YAML as much as all outside
DEEPEST = 100  # of what Markdown nests: it reads nothing that is deeper
MAX_NAMES = 100  # of a link
MAX_PROBLEMS = 20  # that are told of a lesson

LONGEST_BEGINNING = 2000  # letters of a text in which its title is looked for
BETWEEN = "==="  # a line between the chapters of a lesson that is one text
KEY = re.compile(r"(?m)^(lesson|title):(.*)$")
NEEDED = ("figure", "question", "choices", "answer")
FIELDS = {"try": "hint", "your_try": "your_hint"}  # of a chapter, whose keys have other names

ADDRESS = re.compile(r"(?i)[a-z\d][+.-]*+://|\bwww\.|\bmailto:")  # a link wherever it stands
ELSEWHERE = re.compile(r"[^/?#]*:|[^\w?#.]*[/\\][^\w?#.]*[/\\]")  # a link to another host
AWAY = "links to other hosts are not allowed"

# Told by the line where they begin, not by the later one where their end is missed.
UNFINISHED = ("while scanning a simple key", "while scanning a quoted scalar")
YAML = getattr(yaml, "CBaseLoader", yaml.BaseLoader)  # libyaml's, where PyYAML was built with it

Check = Callable[[Link, str], Sequence[str]]
Value = str | list[str]  # in front matter; to YAML's usual loader `no` is False
Given = dict[str, tuple[int, Value]]  # under each key of it the line and the value
Reads = Callable[[str, Value], Any]


class AnyLink(MarkdownIt):
    """Markdown as it is written, with all links that there may be."""

    def validateLink(self, url: str) -> bool:
        return True

    def normalizeLink(self, url: str) -> str:
        return url


MARKDOWN = AnyLink("commonmark", {"maxNesting": DEEPEST}).enable("table")


class LessonError(ValueError):
    """Mistakes of a chapter, each in words behind its line, from 1."""

    def told(self, file: str, before: int = 0) -> list[str]:
        """The mistakes in the order of their lines. before: lines above the chapter in the file."""
        return [f"{file}, line {line + before}: {words}." for line, words in sorted(self.args)]


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
    reads = (partial(read_chapter, file, check, words and words / file.name) for file in files)
    return _lesson([(file.name, 0, read) for file, read in zip(files, reads, strict=True)])


def read_text(text: str, check: Check) -> Lesson:
    """All chapters of one text, between lines `===`, each as its file would be; see `read_lesson`.

    What is wrong is told with its line in the whole text.
    """
    if problem := _too_long(text):
        return Lesson((), (f"The lesson has more than {problem}.",))
    parts = ((chapter_name(number), *part) for number, part in enumerate(split(text), 1))
    return _lesson(
        [(name, before, partial(_chapter, name, lines, check)) for name, before, lines in parts]
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
    lines = text.removeprefix("\ufeff").splitlines()
    marks = (at for at, line in enumerate(lines) if line.rstrip() == BETWEEN)
    parts = []
    for before, end in itertools.pairwise((-1, *marks, len(lines))):
        first = next((at for at in range(before + 1, end) if lines[at].strip()), end)
        parts.append((first, lines[first:end]))
    return parts


def _lesson(there: Sequence[tuple[str, int, Callable[[], Chapter]]]) -> Lesson:
    """The first chapters of those there are, and the first of all problems.

    there: of each its name, the lines above it, and what reads it.
    """
    found: list[Chapter] = []
    problems: list[str] = []
    for name, before, read in there[:MAX_CHAPTERS]:
        try:
            found.append(read())
        except LessonError as error:
            problems += error.told(name, before)
    told = problems[:MAX_PROBLEMS]
    if more := len(problems) - len(told):
        told.append(f"{more} more mistakes are not listed.")
    if len(there) > MAX_CHAPTERS:
        told.append(f"Only the first {MAX_CHAPTERS} of {len(there)} chapters are shown.")
    return Lesson(tuple(found), tuple(told))


def text_told(text: str) -> tuple[str, str]:
    """The title of a lesson that is one text, and a line on it, without reading the rest of it.

    Raises ValueError where it has too many letters or lines to be read.
    """
    if problem := _too_long(text):
        raise ValueError(f"a lesson has up to {problem}")
    count = sum(line.rstrip() == BETWEEN for line in text.splitlines()) + 1
    said: dict[str, str] = dict(reversed(KEY.findall(text[:LONGEST_BEGINNING])))
    title = said.get("lesson", said.get("title", "")).strip()
    return about_lesson(title[1:-1] if title[:1] == title[-1:] in ("'", '"') else title, count)


def read_chapter(file: Path, check: Check, words: Path | None = None) -> Chapter:
    """One chapter. Raises LessonError with all that is wrong and where.

    words: a file that has its words in another language, if there is one: under the same keys.
    """
    lines = _lines(file)
    if words is None or words == file or not words.exists():
        return _chapter(file.name, lines, check)
    return _chapter(file.name, _lines(words), check, beside=front_matter(lines)[1])


def _lines(file: Path) -> list[str]:
    """The lines of a file. Raises LessonError where it cannot be read."""
    try:
        if file.stat().st_size > MAX_BYTES:
            raise LessonError((1, f"the file has more than {MAX_BYTES:,} bytes"))
        return file.read_text("utf-8-sig").splitlines()
    except OSError as error:
        raise LessonError((1, f"the file cannot be read: {error.strerror}")) from error
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise LessonError((line, "the text is not UTF-8")) from error


def _chapter(file: str, lines: Sequence[str], check: Check, beside: Given | None = None) -> Chapter:
    """The chapter of some lines, all of it checked.

    beside: front matter for what it does not give. Raises LessonError with all that is wrong.
    """
    end, given = front_matter(lines)
    given = {**(beside or {}), **given}
    values, problems = _values(given, _keys(check))
    if missing := [name for name in NEEDED if name not in given]:
        problems.append((end, f"{', '.join(missing)} must be given"))
    body = "\n".join(lines[end:])
    if wrong := _forbidden(body):
        problems.append((end + 1 + wrong[0], wrong[1]))
    if beyond := _line_beyond(MAX_WORDS, (len(line.split()) for line in lines[end:]), end + 1):
        problems.append((beyond, f"the text before the figure has more than {MAX_WORDS} words"))
    if problems:
        raise LessonError(*problems)
    usual = {"title": Path(file).stem.capitalize(), "link": {}, "page": "", "because": ""}
    named = {FIELDS.get(name, name): value for name, value in values.items()}
    return Chapter(file=file, body=body.strip(), **usual | named)


def front_matter(lines: Sequence[str]) -> tuple[int, Given]:
    """The line that ends a chapter's front matter, and under each key its line and its value.

    Raises LessonError where it cannot be read, or the chapter has too many letters.
    """
    for number, line in enumerate(lines, 1):
        if len(line) > MAX_LINE:
            raise LessonError((number, f"the line has more than {MAX_LINE:,} letters"))
    if beyond := _line_beyond(MAX_CHAPTER, (len(line) + 1 for line in lines)):
        raise LessonError((beyond, f"the chapter has more than {MAX_CHAPTER:,} letters"))
    marks = [number for number, line in enumerate(lines, 1) if line.rstrip() == "---"]
    if marks[:1] != [1]:
        raise LessonError((1, "a lesson begins with a line ---, then its title and so on"))
    if len(marks) < 2:
        raise LessonError((len(lines), "the line --- that ends the front matter is missing"))
    between = lines[: marks[1] - 1]
    opened = (sum(map(line.count, ("[", "{", "- ", "? "))) for line in between)
    if beyond := _line_beyond(MAX_OPENED, opened):
        raise LessonError((beyond, f"the front matter opens more than {MAX_OPENED} lists"))
    return marks[1], _front_matter("\n".join(between[1:]))


def _line_beyond(most: int, counts: Iterable[int], first: int = 1) -> int:
    """The line at which the sum of the counts of lines exceeds a bound, 0: at none."""
    sums = enumerate(itertools.accumulate(counts), first)
    return next((line for line, count in sums if count > most), 0)


def _front_matter(text: str) -> Given:
    """Under each key the line of the chapter in which it stands, and its value."""
    if strange := yaml.reader.Reader.NON_PRINTABLE.search(text):
        line = text.count("\n", 0, strange.start()) + 2
        raise LessonError((line, f"the character U+{ord(strange[0]):04X} cannot be read"))
    try:
        root = yaml.compose(text, Loader=YAML)
    except yaml.MarkedYAMLError as error:
        begun = error.context_mark if error.context in UNFINISHED else None
        line = (begun or error.problem_mark).line + 2
        hint = "texts with a colon or a # in them need quotes"
        told = f"the YAML is wrong: {error.problem.removeprefix('but ')}; {hint}"
        raise LessonError((line, told)) from error
    if not isinstance(root, yaml.MappingNode):
        line = root.start_mark.line + 2 if root else 2
        raise LessonError((line, "the front matter must be lines such as title: Scores"))
    found: Given = {}
    for key, node in root.value:
        at, name = key.start_mark.line + 2, key.value
        if not isinstance(key, yaml.ScalarNode):
            raise LessonError((at, "a key must be text"))
        if name in found:
            raise LessonError((at, f"{_short(name)} is given twice"))
        if len(found) == MAX_KEYS:
            raise LessonError((at, f"the front matter has more than {MAX_KEYS} keys"))
        texts = node.value if isinstance(node, yaml.SequenceNode) else [node]
        if len(texts) > MAX_KEYS or not all(isinstance(each, yaml.ScalarNode) for each in texts):
            raise LessonError((at, f"{_short(name)} must be text, or a list of up to {MAX_KEYS}"))
        found[name] = at, node.value if texts == [node] else [each.value for each in texts]
    return found


def _keys(check: Check) -> Mapping[str, Reads]:
    """Every key of front matter, and how its value is read."""
    few = chapters.MIN_CHOICES, chapters.MAX_CHOICES
    return {
        "title": lambda name, value: " ".join(_words(name, value).split()),  # it becomes a heading
        "figure": partial(_one_of, chapters.FIGURES),
        **dict.fromkeys(("question", "answer", "because", "lesson", "try", "own"), _words),
        "choices": partial(_some, _words, *few),
        "replies": partial(_some, _maybe_words, *few, apart=False),
        "hidden": partial(_one_of, [chapters.HIDDEN]),
        **dict.fromkeys(("link", "reveal"), partial(_link, check)),
        "page": partial(_page, check),
        "parts": partial(_some, partial(_one_of, chapters.PARTS), 1, len(chapters.PARTS)),
        "probes": partial(_some, _words, 1, 2),
        "yours": _number,
        **dict.fromkeys(("your_try", "your_question", "your_because"), _your_words),
        "your_choices": partial(_some, _your_words, *few),
    }


def _values(
    given: Given, keys: Mapping[str, Reads]
) -> tuple[dict[str, Any], list[tuple[int, str]]]:
    """The values of all keys that are given, and what is wrong with these, by their lines."""
    values: dict[str, Any] = {}
    wrong: dict[str, str] = {}
    for name, (_, value) in given.items():
        try:
            if name not in keys:
                raise ValueError(f"{_short(name)} is unknown; known are {', '.join(keys)}")
            values[name] = keys[name](name, value)
        except ValueError as error:
            wrong[name] = str(error)
    count = len(choices := values.get("choices", ()))
    for name in ("replies", "your_choices"):
        if name in values and count and count != (got := len(values[name])):
            wrong[name] = f"{name} must be one for each of the {count} choices, got {got}"
    if choices and "answer" in values:  # its text, or its place counted from 1
        known, answer = [*choices, *map(str, range(1, count + 1))], values["answer"]
        if answer in known:
            values["answer"] = known.index(answer) % count
        else:
            told = f"the choices, or a number from 1 to {count}, not {_short(answer)}"
            wrong["answer"] = f"answer must be one of {told}"
    return values, [(given[name][0], words) for name, words in wrong.items()]


def _text(name: str, value: Value) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{name} must be text; put it in quotes")
    return value.strip()


def _words(name: str, value: Value) -> str:
    """A value as a text that may be shown as Markdown."""
    text = _text(name, value)
    if not text:
        raise ValueError(f"{name} is empty")
    if wrong := _forbidden(text):
        raise ValueError(wrong[1])
    return text


def _maybe_words(name: str, value: Value) -> str:
    return _words(name, value) if value else ""


def _your_words(name: str, value: Value) -> str:
    """A text that names tokens of a visitor's sentence in braces."""
    text = _words(name, value)
    known = (*TOKENS, *COUNTS)
    if strange := [braced for braced in NAMED.findall(text) if braced not in known]:
        raise ValueError(f"{_short(strange[0])} cannot be named; known are {', '.join(known)}")
    return text


def _number(name: str, value: Value) -> int:
    text = _words(name, value)
    if not (text.isascii() and text.isdigit() and 0 < int(text[:4]) < MAX_WORDS):
        raise ValueError(f"{name} must be a number of words, not {_short(text)}")
    return int(text)


def _one_of(known: Sequence[str], name: str, value: Value) -> str:
    text = _words(name, value)
    if text not in known:
        raise ValueError(f"{name} must be one of {', '.join(known)}, not {_short(text)}")
    return text


def _some(
    read_one: Reads, least: int, most: int, name: str, value: Value, apart: bool = True
) -> tuple[str, ...]:
    """A list of texts. apart: no two of them may be the same."""
    if not isinstance(value, list) or not least <= len(value) <= most:
        raise ValueError(f"{name} must be a list of {least} to {most} texts, as in [one, two]")
    texts = tuple(read_one(f"a text of {name}", text) for text in value)
    if apart and len(set(texts)) < len(texts):
        raise ValueError(f"{name} has the same text twice")
    return texts


def _link(check: Check, name: str, value: Value) -> Link:
    query = _text(name, value).removeprefix("?")
    try:
        texts = parse_qs(query, True, bool(query), max_num_fields=MAX_NAMES)
    except ValueError:
        told = f"name=value&name=value, of up to {MAX_NAMES} values"
        raise ValueError(f"{name} must be written as {told}") from None
    if problems := check(texts, ""):
        raise ValueError(f"{name}: {problems[0].rstrip('.')}")
    return texts


def _page(check: Check, name: str, value: Value) -> str:
    if problems := check({}, page := _words(name, value)):
        raise ValueError(f"{name}: {problems[0].rstrip('.')}")
    return page


def _forbidden(text: str) -> tuple[int, str] | None:
    """The first thing that no text of a lesson may hold: its line, from 0, and why; None: none."""
    links: dict[str, Any] = {}  # that are defined apart from where they stand
    nested, line = text.count("[") >= DEEPEST, 0
    blocks = [] if nested else MARKDOWN.parse(text, links)
    if nested or any(block.level >= DEEPEST - 1 for block in blocks):
        return 0, "brackets, lists and quotes are nested too deep"
    for block in blocks:
        line = block.map[0] if block.map else line
        for part in (*(block.children or ()), block):
            if why := _why_not(part):
                return line, why
            line += part.type in ("softbreak", "hardbreak")
    for link in links.get("references", {}).values():
        return link["map"][0], AWAY
    return None


def _why_not(part: Token) -> str:
    """Why a part of Markdown may not stand in a lesson, "" where it may."""
    link = str(part.attrs.get("href", ""))
    name = link.removeprefix("#light-")
    reasons = {
        "HTML is not allowed, only Markdown": part.type.startswith("html"),
        "pictures are not allowed": part.type == "image",
        AWAY: ADDRESS.search(f"{part.content} {part.info}") or ELSEWHERE.match(link),
        f"{_short(name)} cannot be lit; known are {', '.join(LIGHTS)}": name not in (link, *LIGHTS),
    }
    return next((why for why, is_so in reasons.items() if is_so), "")


def _short(text: str) -> str:
    return f"“{text[:40]}”"
