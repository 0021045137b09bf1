"""A lesson that is being written becomes one file."""

from __future__ import annotations

from dataclasses import replace

import pytest

from attention.subjects.guide import lesson_file
from attention.subjects.guide.carried import EXAMPLE, pack
from attention.subjects.guide.lesson_file import LessonFile, no_progress
from attention.subjects.learning import controls as learning_controls
from attention.subjects.teach import files
from attention.subjects.teach.cards import Draft
from attention.training import TrainingSettings
from attention.training.finished import finished
from tests.running import App, opened

MAKE, FILE = "Make the lesson's file", "Lesson, one HTML file"
LEARNING = """===
---
title: Learning
figure: learning
link: "task=look-up&learn_layers=1&learn_steps=100"
question: Does it learn?
choices: [yes, no]
answer: yes
because: It does.
---
A head learns.
"""


@pytest.fixture(autouse=True)
def _nothing_made() -> None:
    files.made_of.cache_clear()


def offered(app: App) -> bool:
    """True if the page offers the file."""
    return FILE in (item.proto.label for item in app.get("download_button"))


def made(app: App) -> App:
    """Click, and wait until the file is there."""
    return app.press(MAKE).until(lambda: offered(app))


def kept(code: str, text: str) -> LessonFile:
    """The file that was made of a text."""
    packed = pack(Draft.begun(text).text)
    assert (code, packed) in files.made_of.cache
    found = files.made_of(code, packed, no_progress)
    assert isinstance(found, LessonFile)
    return found


def test_a_lesson_becomes_a_file_once_that_is_asked_for():
    app = opened("write")
    assert (offered(app), MAKE in app.buttons) == (False, True)
    assert offered(made(app))
    assert MAKE not in app.buttons
    file = kept("en", EXAMPLE)
    assert '<h2 id="title-0">Who does what</h2>' in file.page()
    app.choose("title_0", "Who & why")
    assert (offered(app), MAKE in app.buttons) == (False, True)  # it is another lesson


def test_a_file_has_its_buttons_in_the_language_that_is_chosen_or_in_english():
    app = made(opened("write").choose("lesson_language", "de"))
    page = kept("de", EXAMPLE).page()
    assert '<html lang="de">' in page
    assert '<button type="button" class="next">Weiter</button>' in page
    made(app.choose("lesson_language", "fr"))
    page = kept("fr", EXAMPLE).page()
    assert '<html lang="fr">' in page
    assert '<button type="button" class="next" lang="en">Next</button>' in page
    app.choose("lesson_language", '"><script>')
    assert (offered(app), MAKE in app.buttons) == (False, False)
    assert any("A language is a code" in words for words in app.notes)


def test_a_chapter_that_trains_is_learned_first_and_a_mistake_offers_no_file(monkeypatch):
    over: set[TrainingSettings] = set()
    monkeypatch.setattr(files, "is_learned", over.__contains__)
    app = opened("write", carried=pack(EXAMPLE + LEARNING)).press(MAKE)
    assert not offered(app)
    settings = TrainingSettings("look-up", learn_layers="1", learn_steps="100")
    run = finished(settings.task)
    assert run is not None
    here = learning_controls.held(settings)
    monkeypatch.setattr(learning_controls, "_runs", {here: replace(run, settings=here)})
    over.add(settings)
    app.until(lambda: offered(app))
    assert len(kept("en", EXAMPLE + LEARNING).drawn) == 3
    app.choose("choices_0", "they grow")
    assert (offered(app), MAKE in app.buttons) == (False, False)


def test_figures_that_take_too_much_are_told_and_no_file_is_offered(monkeypatch):
    monkeypatch.setattr(lesson_file, "MOST_BYTES", 1000)
    app = opened("write").press(MAKE)
    app.until(lambda: any("take 0 MB at most" in words for words in app.notes))
    assert not offered(app)
    files.made_of.cache_clear()
