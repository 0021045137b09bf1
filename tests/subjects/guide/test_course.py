"""The package of a lesson for a school's system: its structure, and all that is in it."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from attention.subjects import command
from attention.subjects.guide.chapters import OWN_LESSONS_VARIABLE, about_lesson
from attention.subjects.guide.course import NAMESPACE, PAGE, STRUCTURE, package_of, structure_of
from attention.subjects.guide.lesson_file import LessonFile, lesson_file
from tests.hostile import HOSTILE
from tests.subjects.guide.test_lesson_file import CHAPTER

# That of cmi5: github.com/AICC/CMI-5_Spec_Current, v1/CourseStructure.xsd; Apache License 2.0.
SCHEMA = Path(__file__).parent / "CourseStructure.xsd"
NAMES = {"c": NAMESPACE}

Make = Callable[..., LessonFile]


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    """Makes the file of a lesson of one chapter."""

    def made(language: str = "en", text: str = CHAPTER) -> LessonFile:
        (tmp_path / "1.md").write_text(text.replace("<word>", "word"), "utf-8")
        monkeypatch.setenv(OWN_LESSONS_VARIABLE, str(tmp_path))
        return lesson_file(language, {"lesson": "own"})

    return made


def test_a_course_structure_holds_by_the_schema_of_cmi5(make: Make) -> None:
    xmlschema = pytest.importorskip("xmlschema", reason="needs xmlschema (requirements-dev.txt)")
    schema = xmlschema.XMLSchema(SCHEMA)
    file = make()
    for each in (file, replace(file, language="de-AT")):
        schema.validate(structure_of(each).decode())
    for words in (*HOSTILE, "no\ufffecharacter\0"):
        title, _ = about_lesson(words, 1)
        hostile = structure_of(replace(file, title=title)).decode()
        schema.validate(hostile)
        told = ElementTree.fromstring(hostile).find("c:au/c:title/*", NAMES).text
        assert told == title.replace("\ufffe", "")
    wrong = structure_of(file).decode().replace("Completed", "Done")
    assert not schema.is_valid(wrong)


def test_a_course_is_one_unit_in_the_language_of_the_lesson(make: Make) -> None:
    root = ElementTree.fromstring(structure_of(make("de")))
    (unit,) = root.findall("c:au", NAMES)
    assert (unit.get("moveOn"), unit.get("masteryScore")) == ("Completed", "0.5")
    assert unit.find("c:url", NAMES).text == PAGE
    for element in (root.find("c:course", NAMES), unit):
        title = element.find("c:title/c:langstring", NAMES)
        about = element.find("c:description/c:langstring", NAMES)
        assert (title.text, title.get("lang")) == ("Scores and shares", "de")
        assert about.text.startswith("Kapitel")
        assert about.text.endswith(": 1.")
        assert about.get("lang") == "de"
    french = ElementTree.fromstring(structure_of(make("fr")))
    about = french.find("c:au/c:description/*", NAMES)
    assert about.get("lang") == "en"  # it has no words in French
    assert about.text.startswith("Chapters")


def test_a_system_knows_a_lesson_again_until_it_asks_something_else(make: Make) -> None:
    def names(*given: str) -> set[str]:
        root = ElementTree.fromstring(structure_of(make(*given)))
        return {root.find(f"c:{name}", NAMES).get("id") for name in ("course", "au")}

    first = names()
    assert len(first) == 2
    assert all(name.startswith("urn:uuid:") for name in first)
    assert names("en", CHAPTER.replace("Words with", "Other words with")) == first
    assert not names("en", CHAPTER.replace("answer: good", "answer: tea")) & first
    assert not names("de") & first


def test_a_package_is_a_zip_with_the_structure_and_one_page(make: Make) -> None:
    file = make()
    package = package_of(file)
    assert package == package_of(file)
    with zipfile.ZipFile(io.BytesIO(package)) as archive:
        assert archive.namelist() == [STRUCTURE, PAGE]
        assert archive.read(STRUCTURE) == structure_of(file)
        assert archive.read(PAGE).decode() == file.page(course=True)


def test_the_command_writes_a_package_where_the_name_ends_in_zip(
    make: Make, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make()
    written = tmp_path / "lesson.zip"
    command.main(["lesson", str(tmp_path), "-o", str(written), "--lang", "es"])
    assert " MB" in capsys.readouterr().out
    with zipfile.ZipFile(written) as archive:
        assert b'lang="es"' in archive.read(STRUCTURE)
        assert archive.read(PAGE).startswith(b'<!doctype html>\n<html lang="es">')
