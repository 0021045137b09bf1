"""A lesson as one file: its words, its figures with their numbers, and its codes."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from pathlib import Path

import pytest
from torch.testing import assert_close

from attention.inputs.vectors import PackagedGlove, look_up
from attention.subjects import command
from attention.subjects.guide import carried, lesson_file
from attention.subjects.guide.chapters import OWN_LESSONS_VARIABLE, Chapter, Lesson
from attention.subjects.guide.lesson_file import lesson_page
from tests.hostile import HOSTILE
from tests.running import figures_in, sent_as
from tests.serving import ROOT

CHAPTER = """---
title: Scores *and* shares
figure: picture
parts: [lines, heatmap]
link: "s=tea is good&stage=weights&query=1"
try: Click a cell.
question: Which <word>?
choices: [tea, good]
answer: good
because: "It is **good**."
reveal: "s=good tea is good"
---
Words with [a part](#light-row), and a < b & c.
"""


def data_of(page: str) -> dict:
    """All that a file is given."""
    (text,) = re.findall(r'<script type="application/json" id="given">(.*?)</script>', page)
    return json.loads(text)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = tmp_path / "lessons"
    made.mkdir()
    (made / "1.md").write_text(CHAPTER.replace("<word>", "word"), "utf-8")
    monkeypatch.setenv(OWN_LESSONS_VARIABLE, str(made))
    return made


def test_the_figures_of_a_file_hold_the_numbers_of_the_library(folder):
    (chapter,) = data_of(lesson_page(lesson="own"))["chapters"]
    assert chapter["answer"] == 1
    for name, sentence in (("before", "tea is good"), ("after", "good tea is good")):
        message = b64decode(chapter[name])
        assert sent_as(message).header["selection"]["values"] == {"query": 1, "stage": "weights"}
        x = look_up(PackagedGlove(), sentence.split()).x
        weights = (x @ x.T / 50**0.5).softmax(-1)
        assert_close(figures_in(message)["picture"].parts["weights"], weights)


def test_words_are_markdown_and_never_html(folder):
    page = lesson_page(lesson="own")
    assert '<h2 id="title-0">Scores <em>and</em> shares</h2>' in page
    assert 'Words with <a href="#light-row">a part</a>, and a &lt; b &amp; c.' in page
    for words in HOSTILE:
        assert "<script" not in lesson_file.written(words)
        assert "<img" not in lesson_file.inline(words)
        assert not re.search(r'(href|src)="(?!#light-)', lesson_file.written(words))


def test_a_lesson_with_a_mistake_is_refused_with_its_line(folder):
    (folder / "1.md").write_text(CHAPTER, "utf-8")
    with pytest.raises(ValueError, match=r"1\.md, line 7: HTML is not allowed"):
        lesson_page(lesson="own")


def test_the_command_writes_a_file_or_says_why_not(folder, tmp_path, capsys):
    written = tmp_path / "lesson.html"
    command.main(["lesson", str(folder), "-o", str(written)])
    assert written.read_text("utf-8").startswith("<!doctype html>")
    assert " MB" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="has no files whose names end in"):
        command.main(["lesson", str(tmp_path), "-o", str(written)])


def test_the_guide_is_no_file_in_a_language_that_it_has_not():
    with pytest.raises(ValueError, match="language must be one of en, de, es, got 'xx'"):
        lesson_page("xx")


def test_codes_of_a_file_are_those_of_the_app():
    question = Chapter("1.md", "t", "b", "picture", {}, "", "Which word?", ("tea", "good"), 1, "x")
    lesson = Lesson((question,), ())
    codes = [carried.code_of(carried.Result((guess,)), lesson) for guess in (1, None)]
    test = (ROOT / "tests/browser_modules/lesson.test.js").read_text("utf-8")
    assert f'"{carried.asked_of(lesson)}"' in test
    assert all(f'"{code}"' in test for code in codes)
