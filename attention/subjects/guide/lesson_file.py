"""A whole lesson as one file of HTML: its figures computed before, its questions answered in it."""

from __future__ import annotations

import functools
import html
import itertools
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass, replace

from markdown_it import MarkdownIt

from attention.app.state.view import View, viewed
from attention.figures.bundle import drawing, file_of
from attention.figures.modules import BROWSER
from attention.figures.scene import Scene
from attention.figures.scene_message import SelectionHeader, scene_message
from attention.hosting.jobs import Step
from attention.subjects.guide import carried, chapter_page, fitting
from attention.subjects.guide import scene as scenes
from attention.subjects.guide.chapters import LIGHTS, Chapter, Lesson, languages
from attention.subjects.learning import controls as learning_controls
from attention.subjects.learning import scene as learning_scenes
from attention.training import Run, TrainingSettings, fit

ENTRY, STYLE = "notebook/lesson.js", "notebook/lesson.css"


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
    """A chapter as it is read, with its figure before its answer and after it."""

    chapter: Chapter
    before: Scene
    after: Scene
    selections: tuple[SelectionHeader, SelectionHeader]


def lesson_page(language: str = "en", **link: str) -> str:
    """The text of the file of a lesson, as a link of the guide names it (`lesson`, …).

    language: the code of that of its words; of the guide, one of `languages`.
    It opens without a network. Codes are those of the app: *Answers of a class* counts them.
    Raises ValueError with all that is wrong where the lesson has mistakes or no chapter.
    """
    if (is_guide := "lesson" not in link) and language not in languages():
        raise ValueError(f"language must be one of {', '.join(languages())}, got {language!r}")
    named = {**link, "lang": language} if is_guide else link
    view = viewed("guide", **named)
    lesson = chapter_page.lesson(view)
    if lesson.problems or not lesson.chapters:
        raise ValueError("\n".join(lesson.problems) or "the lesson must have a chapter, got none")
    drawn = [drawn_chapter(view, chapter) for chapter in lesson.chapters]
    all_scenes = [each for one in drawn for each in (one.before, one.after)]
    looks, modules, plotly = drawing(all_scenes, ENTRY)
    given = {
        "chapters": [
            {
                "answer": one.chapter.answer,
                "before": message_of(one.before, one.selections[0]),
                "after": message_of(one.after, one.selections[1]) if one.chapter.reveal else "",
            }
            for one in drawn
        ],
        "asked": carried.asked_of(lesson),
        "letters": carried.LETTERS,
        "lights": LIGHTS,
        "style": (BROWSER / STYLE).read_text("utf-8"),
        **looks,
    }
    title = view.page.title if is_guide else lesson.told[0]
    body = body_of(title, lesson, [one.chapter for one in drawn])
    return file_of(title, given, modules, plotly, body=body, language=language)


def message_of(drawn: Scene, selection: SelectionHeader) -> str:
    """A scene with its selection, as a file holds it."""
    return b64encode(scene_message(drawn, selection)).decode()


def drawn_chapter(view: View, chapter: Chapter) -> Drawn:
    """A chapter with its figures, all that takes time worked out."""
    before = chapter_page.view_of(view, chapter)
    told = chapter_page.on_yours(before, chapter)
    visit = replace(before.visit, in_chapter={"revealed": before["s"]})
    after = replace(before, values_={**before, "guess": told.answer}, visit=visit)
    several = [figures_of(each, told) for each in (before, after)]
    shown = [(each, chapter_page.shown(each, told)) for each in (before, after)]
    selections = [chapter_page.selection(each, chapter) for each, chapter in shown]
    first, second = (SelectionHeader(**each, turn=0) for each in selections)
    return Drawn(told, several[0], several[1], (first, second))


def figures_of(view: View, chapter: Chapter) -> Scene:
    """The figures of a chapter, of a training all of it."""
    shown = chapter_page.shown(view, chapter)
    if shown.figure == "finale" and (result := chapter_page.result(view, shown)) is not None:
        for step in fitting.steps_to_ending(result.settings.s):
            finish(step)
    if shown.figure == "learning":
        settings = learning_controls.held(chapter_page.training_of(shown))
        run = learning_controls.finished(settings) or learned(settings)
        return learning_scenes.finished(run, brief=True)
    return scenes.whole(view, chapter)


@functools.lru_cache(maxsize=4)
def learned(settings: TrainingSettings) -> Run:
    """A training, learned here and now."""
    return Run(settings, tuple(fit(settings.task, settings)))


def finish(step: Step) -> None:
    """Work a step out, in one go."""
    step.work(lambda *told: None)


def body_of(title: str, lesson: Lesson, chapters: Sequence[Chapter]) -> str:
    """The words of a lesson as HTML. They are Markdown without HTML of its own."""
    parts = [f"<h1>{html.escape(title)}</h1>", '<nav aria-label="Chapters"><ol></ol></nav>']
    parts += [section_of(chapter, at) for at, chapter in enumerate(chapters)]
    parts.append(
        '<p class="ways"><button type="button" class="back">Back</button>'
        '<button type="button" class="next">Next</button>'
        '<button type="button" class="print">Print the lesson</button></p>'
        '<p class="code" role="status"></p>'
    )
    return f'<main class="lesson">{"".join(parts)}</main>'


def section_of(chapter: Chapter, at: int) -> str:
    """A chapter: words, a place for its figure, its question, and what is said then."""
    replies = chapter.replies or [""] * len(chapter.choices)
    said = "".join(f'<div class="reply" hidden>{written(reply)}</div>' for reply in replies)
    hint = "" if chapter.figure == "learning" else chapter.hint  # it is learned already
    letters = itertools.count()
    choices = "".join(
        f'<button type="button" data-choice="{next(letters)}">{inline(choice)}</button>'
        for choice in chapter.choices
    )
    return (
        f'<section aria-labelledby="title-{at}"><h2 id="title-{at}">{inline(chapter.title)}</h2>'
        f'<div class="words">{written(chapter.body)}</div>'
        f'<div class="try">{written(hint)}</div><div class="figure"></div>'
        f'<div class="question" role="group" aria-labelledby="asked-{at}">'
        f'<p id="asked-{at}">{inline(" ".join(chapter.question.split()))}</p>{choices}</div>'
        f'<div class="said" role="status"><p class="verdict"></p>{said}'
        f'<div class="because" hidden>{written(chapter.because)}</div></div>'
        '<p class="reveal" hidden><button type="button">Show it in the figure</button></p>'
        "</section>"
    )


def written(text: str) -> str:
    """Markdown as HTML, paragraph by paragraph."""
    return str(MARKDOWN.render(text)) if text else ""


def inline(text: str) -> str:
    """Markdown within a line as HTML."""
    return str(MARKDOWN.renderInline(text))
