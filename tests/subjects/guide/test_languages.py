"""The guide in other languages: its words are others, all else of each chapter is the same."""

from __future__ import annotations

import re
import shutil

import pytest

from attention.subjects.guide import chapters, chosen_lesson, lesson_words
from attention.subjects.guide.chapters import GUIDE, Chapter, Lesson, languages
from attention.subjects.guide.chosen_lesson import check
from attention.subjects.guide.lesson_words import FILE, SENTENCES, _read, sentence_in, words_in
from attention.subjects.guide.reading import read_lesson
from tests.hostile import HOSTILE
from tests.running import opened

ENGLISH = read_lesson(GUIDE, check)
OTHERS = [code for code in languages() if code != "en"]
WORDS = ("body", "question", "because", "hint", "own", "your_hint", "your_question", "your_because")
SAME = ("figure", "link", "page", "answer", "parts", "probes", "reveal", "yours", "name")
NUMBER = re.compile(r"(?<![\w#])\d[\d.,]*\d|(?<![\w#])\d")
NAMED = re.compile(r"\{\w+\}")
LIGHT = re.compile(r"\(#light-[\w-]+\)")
COMMA_IS_POINT = str.maketrans(".,", ",.")


def read(code: str) -> Lesson:
    return read_lesson(GUIDE, check, GUIDE / code)


def texts(chapter: Chapter) -> list[str]:
    """All that is read of a chapter, text by text."""
    listed = [*chapter.choices, *chapter.replies, *chapter.your_choices]
    return [chapter.title, *(getattr(chapter, name) for name in WORDS), *listed]


def test_two_languages_are_there_beside_english():
    assert {"en", "de", "es"} <= languages().keys()
    assert all(name and (line or code == "en") for code, (name, line) in languages().items())


@pytest.mark.parametrize("code", OTHERS)
def test_a_chapter_in_another_language_has_all_of_the_english_one(code):
    there = read(code)
    assert there.problems == ()
    files = {file.name for file in (GUIDE / code).glob("*.md")}
    assert files == {chapter.file for chapter in ENGLISH.chapters}
    for english, other in zip(ENGLISH.chapters, there.chapters, strict=True):
        for name in SAME:
            assert getattr(other, name) == getattr(english, name), (other.file, name)
        for name in WORDS:
            said, meant = getattr(other, name), getattr(english, name)
            assert bool(said) == bool(meant), (other.file, name)
            assert said != meant or not meant, (other.file, name, "is English")
        for said, meant in zip(texts(other), texts(english), strict=True):
            numbers = [number.translate(COMMA_IS_POINT) for number in NUMBER.findall(said)]
            assert sorted(numbers) == sorted(NUMBER.findall(meant)), (other.file, said)
            for kind in (NAMED, LIGHT):
                assert sorted(kind.findall(said)) == sorted(kind.findall(meant)), (other.file, said)


@pytest.mark.parametrize("code", OTHERS)
def test_the_words_around_a_lesson_are_there_in_each_language_of_the_guide(code):
    (english, meant), (found, said) = words_in("fr"), words_in(f"{code}-XX")
    assert (english, found) == ("en", code)
    assert _read(GUIDE / code / FILE).keys() == said.keys() == meant.keys()
    for name, words in said.items():
        assert words not in ("", meant[name]), name
        assert NAMED.findall(words) == NAMED.findall(meant[name]), name


def test_a_language_may_be_partial_and_the_rest_is_english(tmp_path, monkeypatch):
    shutil.copytree(GUIDE, tmp_path, dirs_exist_ok=True)
    folder = tmp_path / "it"
    folder.mkdir()
    (folder / "language.txt").write_text("Italiano\nLe figure sono in inglese.\n")
    (folder / "words.yaml").write_text("next: Avanti\n")
    (folder / "03-scores.md").write_text((GUIDE / "de/03-scores.md").read_text("utf-8"))
    for module in (chapters, chosen_lesson, lesson_words):
        monkeypatch.setattr(module, "GUIDE", tmp_path)
    cached = (languages, lesson_words.all_words)
    for one in cached:
        one.cache_clear()
    try:
        for chapter, translated in (("scores", read("de")), ("masks", ENGLISH)):
            app = opened("guide", lang="it", chapter=chapter)
            expected = translated.chapters[translated.position(chapter) or 0].title
            assert f"## {expected}" in [each.value for each in app.markdown]
            assert {"Avanti", words_in("en")[1]["back"]} <= app.buttons.keys()
    finally:
        for one in cached:
            one.cache_clear()


@pytest.mark.parametrize("code", OTHERS)
def test_the_guide_opens_in_the_language_of_its_link(code):
    app = opened("guide", lang=code, chapter="masks", guess=1, s="a cat and a dog")
    there, words = read(code), words_in(code)[1]
    chapter = there.chapters[there.position("masks") or 0]
    said = [each.value for each in app.markdown]
    assert (f"## {chapter.title}" in said, app.heading[0]) == (True, words["guide"])
    assert f"**{words['right']}.** {chapter.because}" in said
    assert languages()[code][1] in app.notes
    names = ("back", "next", "reveal", "own")
    assert {words[name] for name in names} <= app.buttons.keys()
    assert app.controls["yours"].label == words["yours"]
    assert any(each.startswith(words["looks"].partition("{")[0]) for each in app.told)


def test_a_language_is_chosen_by_its_own_name_and_stands_in_the_link_by_its_code():
    app = opened("guide", chapter="scores").choose("lang_menu", "es")
    assert any("Cada palabra pregunta" in each.value for each in app.markdown)
    assert app.query_params["lang"] == "es"
    assert "lang_menu" not in opened("guide", hide="lang").controls


@pytest.mark.parametrize("code", OTHERS)
def test_sentences_below_a_figure_are_in_the_language_of_the_chapter_with_its_numbers(code):
    for english, other in _read(GUIDE / code / SENTENCES).items():
        assert sorted(NAMED.findall(other)) == sorted(NAMED.findall(english))
        assert sentence_in("fr", english) == english
        assert sentence_in(code, f"{english} {HOSTILE[4]}") != other
    numbers = {"one-word": "0,71 → 0,89", "softmax": "49,3 %", "square-root": "2.000"}
    for chapter, number in numbers.items():
        there, english = (opened("guide", lang=each, chapter=chapter).told for each in (code, "en"))
        assert number in " ".join(there)
        assert not {*there} & {*english}, chapter
    assert sentence_in(code, "Learn") in opened("guide", lang=code, chapter="learning").buttons
    said = opened("guide", lang=code, chapter="scores").sent["picture"].header["said"]
    begins = words_in(code)[1]["most"].partition("{key}")[0].format(word="cat")
    assert [each["line"][0].startswith(begins) for each in said].index(True) == 2
