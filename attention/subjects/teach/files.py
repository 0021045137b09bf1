"""A lesson that is being written, as one file of HTML.

Its figures are worked out as all that takes long is: in fair turns, while the visitor looks on. The
file is put together once it is asked for.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import streamlit as st

from attention.app.cached import kept
from attention.app.components.scene import draw
from attention.app.controls import works
from attention.app.controls.works import Task
from attention.figures.scene import note, scene
from attention.hosting.jobs import Step, Tell
from attention.subjects.guide import chapter_page
from attention.subjects.guide.chapters import CARRIED, Lesson
from attention.subjects.guide.lesson_file import (
    LANGUAGE,
    MOST_BYTES,
    LessonFile,
    lesson_file,
    no_progress,
)
from attention.subjects.guide.lesson_words import ENGLISH, all_words
from attention.subjects.learning import controls as learning_controls
from attention.training import TrainingSettings

KEPT_BYTES = 4 * MOST_BYTES
LONGEST_CODE = 20  # letters of a language's
HELP = (
    "By its code, such as de or fr. The buttons in the file are in it too, where they are there in "
    f"it: {', '.join(all_words())}. Else they are in English, as words in figures are."
)
MAKING = "Its figures are worked out, so that it needs no server."


def _size(made: LessonFile | str) -> int:
    return len(made) if isinstance(made, str) else made.nbytes


@kept(nbytes=KEPT_BYTES, size=_size, key=lambda code, packed, tell: (code, packed))
def made_of(code: str, packed: str, tell: Tell) -> LessonFile | str:
    """The file of a lesson that a link carries, or in words why there is none.

    code: of its language.
    """
    try:
        return lesson_file(code, {"lesson": CARRIED, "carried": packed}, tell)
    except ValueError as error:
        return f"The file cannot be made: {error}."


def offer(lesson: Lesson, packed: str) -> None:
    """The lesson as one file; a button that makes it while it is not made.

    lesson: one that has no mistakes; packed: as its link carries it.
    """
    code = st.text_input(
        "Language of the lesson", ENGLISH, LONGEST_CODE, key="lesson_language", help=HELP
    )
    if not LANGUAGE.fullmatch(code):
        draw(scene(note("A language is a code such as en, fr or pt-BR.")), key="lesson_made")
        return
    if not is_made(lesson, code, packed):
        return
    made = made_of(code, packed, no_progress)
    if isinstance(made, str):
        draw(scene(note(made)), key="lesson_made")
        return
    st.download_button(
        "Lesson, one HTML file",
        lambda: made.page().encode(),
        "lesson.html",
        "text/html",
        on_click="ignore",
        key="lesson_html",
        help="It opens without a network, from a USB stick too.",
    )


def is_made(lesson: Lesson, code: str, packed: str) -> bool:
    """True if nothing is left to be worked out for the file; else shows how far it is."""
    what, steps = ("lesson file", code, packed), []
    if (code, packed) not in made_of.cache:
        steps = [Step("Working out the figures", what, partial(made_of, code, packed))]
    task = Task(
        what, steps, False, False, "lesson_work", words=MAKING, label="Make the lesson's file"
    )
    if steps and task.is_asked_for:
        for chapter in lesson.chapters:
            if chapter.figure == "learning" and not is_learned(chapter_page.training_of(chapter)):
                return False
    return works.done(task)


def is_learned(settings: TrainingSettings) -> bool:
    """True if a training is over; else it goes on, in the turns of all trainings."""
    task = learning_controls.task_of(learning_controls.held(settings))
    return works.done(replace(task, unasked=True, key="lesson_training"))
