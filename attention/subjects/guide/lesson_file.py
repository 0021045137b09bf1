"""A whole lesson as one file of HTML: its figures computed before, its questions answered in it."""

from __future__ import annotations

import functools
import html
import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from markdown_it import MarkdownIt

from attention.app.state.view import View, viewed
from attention.figures.bundle import Kinds, drawing, file_of, kinds_of
from attention.figures.modules import BROWSER
from attention.figures.scene import Scene
from attention.figures.scene_message import SelectionHeader, scene_message
from attention.hosting.jobs import Tell
from attention.subjects.guide import carried, chapter_page, chosen_lesson, fitting, model_window
from attention.subjects.guide import scene as scenes
from attention.subjects.guide.chapters import LIGHTS, Chapter, Lesson, languages
from attention.subjects.guide.lesson_words import LessonWords, words_in
from attention.subjects.learning import controls as learning_controls
from attention.subjects.learning import scene as learning_scenes
from attention.training import Run, TrainingSettings, fit

ENTRY = "notebook/lesson.js"
STYLES = "notebook/lesson.css", "lights/style.css"
WAYS = ("back", "next")
LANGUAGE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z\d]{2,8}){0,3}")  # of BCP 47, the usual ones
MOST_BYTES = 16_000_000  # of the figures of a lesson; those of the guide take 2


class LessonMarkdown(MarkdownIt):
    """Markdown without HTML and pictures, whose links lead to parts of a figure alone."""

    def __init__(self) -> None:
        super().__init__("commonmark", {"html": False})
        self.disable(["image", "autolink"])

    def validateLink(self, url: str) -> bool:
        return url.startswith("#light-")


MARKDOWN = LessonMarkdown()


@dataclass(frozen=True)
class Drawn:
    """A chapter as it is read, and messages of its figure before its answer and after it.

    after: "" where it is the same; kinds: those of its figures.
    """

    chapter: Chapter
    before: str
    after: str
    kinds: Kinds


@dataclass(frozen=True)
class LessonFile:
    """A lesson with its figures worked out: all that its file is written from.

    language: the code of that of its chapters; lesson: as it was read; drawn: each of its chapters.
    """

    title: str
    language: str
    lesson: Lesson
    drawn: tuple[Drawn, ...]

    @property
    def nbytes(self) -> int:
        """Bytes that its figures take."""
        return sum(len(one.before) + len(one.after) for one in self.drawn)

    def page(self) -> str:
        """The text of its file of HTML, which opens without a network."""
        code, words = words_in(self.language)
        kinds = frozenset[tuple[str, bool]]().union(*(one.kinds for one in self.drawn))
        looks, modules, plotly = drawing(kinds, ENTRY)
        given = {
            "chapters": [
                {
                    "answer": one.chapter.answer,
                    "before": one.before,
                    "after": one.after,
                    "hidden": bool(one.chapter.hidden),
                }
                for one in self.drawn
            ],
            "asked": carried.asked_of(self.lesson),
            "letters": carried.LETTERS,
            "lights": LIGHTS,
            "words": dict(words),
            "style": "".join((BROWSER / style).read_text("utf-8") for style in STYLES),
            **looks,
        }
        body = Body(words, "" if code == self.language else f' lang="{code}"')
        written = body.of(self.title, [one.chapter for one in self.drawn])
        return file_of(self.title, given, modules, plotly, written, self.language)


def lesson_page(language: str = "en", **link: str) -> str:
    """The text of the file of a lesson, see `lesson_file`."""
    return lesson_file(language, link).page()


def no_progress(done: int, of: int, found: object = None, /) -> None:
    """Tell nobody."""


def lesson_file(language: str, link: Mapping[str, str], tell: Tell = no_progress) -> LessonFile:
    """A lesson as a link of the guide names it (`lesson`, …), with its figures.

    language: the code of that of its words; of the guide, one of `languages`; tell: told how many
    chapters are done, see `jobs.Step`.
    Its codes are those of the app: a class on *Write a lesson* counts them.
    Raises ValueError with all that is wrong where the lesson has mistakes or no chapter, its
    language is no code of one, or its figures take more than `MOST_BYTES`.
    """
    if (is_guide := "lesson" not in link) and language not in languages():
        raise ValueError(f"language must be one of {', '.join(languages())}, got {language!r}")
    if not LANGUAGE.fullmatch(language):
        raise ValueError(f"language must be a code such as en or pt-BR, got {language[:20]!r}")
    view = viewed("guide", **({**link, "lang": language} if is_guide else link))
    lesson = chosen_lesson.lesson(view)
    if lesson.problems or not lesson.chapters:
        raise ValueError("\n".join(lesson.problems) or "the lesson must have a chapter, got none")
    drawn: list[Drawn] = []
    title = words_in(language)[1]["guide"] if is_guide else lesson.summary[0]
    for at, chapter in enumerate(lesson.chapters):
        part = partial(tell_part, tell, at, len(lesson.chapters))
        part(0, 1)
        drawn.append(drawn_chapter(view, chapter, part))
        file = LessonFile(title, language, lesson, tuple(drawn))
        if file.nbytes > MOST_BYTES:
            raise ValueError(
                f"the figures of a lesson take {MOST_BYTES / 1e6:.0f} MB at most, those of its "
                f"first {at + 1} chapters take more: shorten sentences, or leave chapters out"
            )
    return file


def tell_part(tell: Tell, at: int, parts: int, done: int, of: int, found: object = None, /) -> None:
    """Tell how much of one of several parts is done. at: its position."""
    tell(at * of + done, parts * of)


def drawn_chapter(view: View, chapter: Chapter, tell: Tell) -> Drawn:
    """A chapter with its figures, all that takes time worked out."""
    before = chapter_page.view_of(view, chapter)
    told = chapter_page.on_yours(before, chapter)
    visit = replace(before.visit, in_chapter={"revealed": before["s"]})
    after = replace(before, values_={**before, "guess": told.answer}, visit=visit)
    views = [before, after] if told.reveal else [before]
    drawn = [figures_of(each, told, tell) for each in views]
    messages = []
    for each, figures in zip(views, drawn, strict=True):
        chosen = chapter_page.selection(each, chapter_page.shown(each, told))
        selection = SelectionHeader(**chosen, turn=0)
        messages.append(b64encode(scene_message(figures, selection)).decode())
    return Drawn(told, messages[0], "".join(messages[1:]), kinds_of(drawn))


def figures_of(view: View, chapter: Chapter, tell: Tell) -> Scene:
    """The figures of a chapter, of a training all of it."""
    shown = chapter_page.shown(view, chapter)
    if shown.figure == "finale" and (result := chapter_page.result(view, shown)) is not None:
        for step in fitting.steps_to_ending(result.settings.s):
            step.work(tell)
    if shown.figure == "window":
        for step in model_window.steps(view, shown):
            step.work(tell)
    if shown.figure == "learning":
        settings = learning_controls.held(chapter_page.training_of(shown))
        run = learning_controls.finished(settings) or learned(settings)
        return learning_scenes.finished(run, brief=True)
    return scenes.whole(view, chapter)


@functools.lru_cache(maxsize=4)
def learned(settings: TrainingSettings) -> Run:
    """A training, learned here and now."""
    return Run(settings, tuple(fit(settings.task, settings)))


@dataclass(frozen=True)
class Body:
    """Writer of a lesson's chapters as HTML. They are Markdown without HTML of its own.

    words: those around them; lang: the attribute that says in which language these are, "" where it
    is that of the chapters.
    """

    words: LessonWords
    lang: str

    def of(self, title: str, chapters: Sequence[Chapter]) -> str:
        """All of it, below the title of the lesson."""
        label = html.escape(self.words["chapters"])
        parts = [f"<h1>{html.escape(title)}</h1>"]
        parts.append(f'<nav{self.lang} aria-label="{label}"><ol></ol></nav>')
        parts += [self.section(chapter, at) for at, chapter in enumerate(chapters)]
        parts.append('<p class="ways">')
        parts += [self.button(name, self.words[name]) for name in WAYS]
        parts.append('</p><p class="code" role="status"></p>')
        return f'<main class="lesson">{"".join(parts)}</main>'

    def button(self, name: str, words: str) -> str:
        """A button that is named by its class."""
        return f'<button type="button" class="{name}"{self.lang}>{html.escape(words)}</button>'

    def section(self, chapter: Chapter, at: int) -> str:
        """A chapter: words, a place for its figure, its question, and what is said then."""
        replies = chapter.replies or [""] * len(chapter.choices)
        said = "".join(f'<div class="reply" hidden>{written(reply)}</div>' for reply in replies)
        hint = "" if chapter.figure == "learning" else chapter.hint  # it is learned already
        choices = "".join(
            f'<button type="button" data-choice="{number}">{inline(choice)}</button>'
            for number, choice in enumerate(chapter.choices)
        )
        title = f'<h2 id="title-{at}">{inline(chapter.title)}</h2>'
        return (
            f'<section aria-labelledby="title-{at}"{" hidden" if at else ""}>{title}'
            f'<div class="words">{written(chapter.body)}</div>'
            f'<div class="try">{written(hint)}</div><div class="figure"></div>'
            f'<div class="question" role="group" aria-labelledby="asked-{at}">'
            f'<p id="asked-{at}">{inline(" ".join(chapter.question.split()))}</p>{choices}</div>'
            f'<div class="said" role="status"><p class="verdict"{self.lang}></p>{said}'
            f'<div class="because" hidden>{written(chapter.because)}</div></div>'
            f'<p class="shows" hidden>{self.button("reveal", self.words["reveal"])}</p></section>'
        )


def written(text: str) -> str:
    """Markdown as HTML, paragraph by paragraph."""
    return str(MARKDOWN.render(text)) if text else ""


def inline(text: str) -> str:
    """Markdown within a line as HTML."""
    return str(MARKDOWN.renderInline(text))
