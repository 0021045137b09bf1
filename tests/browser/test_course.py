"""A lesson that a school's system opens by cmi5: what it tells that system, and nobody else."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from attention.subjects.guide.chapters import OWN_LESSONS_VARIABLE
from attention.subjects.guide.course import PAGE, package_of
from attention.subjects.guide.lesson_file import LessonFile, lesson_file
from tests.browser.browsing import Page, eventually, expect
from tests.browser.school import School, opened_school
from tests.browser.test_every_view import check_with_axe
from tests.subjects.guide.test_lesson_file import CHAPTER

RESULT = "The school's system has your result."
LISTENS = "Your first answers go to the school's system that opened this lesson."
WHOLE = ["initialized", "passed", "completed", "terminated"]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LessonFile]:
    """A lesson of two chapters, in each of which “good” is right."""
    folder = tmp_path_factory.mktemp("lesson")
    first = CHAPTER.replace("<word>", "word").replace("[lines, heatmap]", "[lines]")
    (folder / "1.md").write_text(first, "utf-8")
    (folder / "2.md").write_text(first.replace("Scores *and* shares", "Again"), "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(OWN_LESSONS_VARIABLE, str(folder))
        yield lesson_file("en", {"lesson": "own"})


@pytest.fixture(scope="module")
def page_of_course(file: LessonFile) -> str:
    with zipfile.ZipFile(io.BytesIO(package_of(file))) as package:
        return package.read(PAGE).decode()


@pytest.fixture
def page(browser: Any) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1200, "height": 1000})
    page = context.new_page()
    page.on("pageerror", lambda error: pytest.fail(str(error)))
    yield page
    context.close()


def choose(page: Page, *choices: str) -> None:
    """Choose an answer in each chapter, from the open one on."""
    expect(page.locator("nav [aria-current=step]")).to_have_count(1)
    for at, choice in enumerate(choices):
        if at:
            page.get_by_role("button", name="Next", exact=True).click()
        page.get_by_role("button", name=choice, exact=True).click()
        expect(page.locator("section:visible .verdict")).not_to_be_empty()


def leave(page: Page, school: School) -> None:
    """Leave the page, until the system has heard of it."""
    page.goto("about:blank")
    eventually(page, lambda: school.verbs[-1][-1:], ["terminated"])


@pytest.mark.parametrize(
    ("choices", "mastery", "right", "verb"),
    [
        (("tea", "good"), 0.5, 1, "passed"),
        (("tea", "good"), 0.75, 1, "failed"),
        (("good", "good"), 1, 2, "passed"),
        (("tea", "tea"), 0.5, 0, "failed"),
    ],
)
def test_a_school_is_told_a_session_in_its_order_and_the_share_of_right_answers(
    page_of_course: str, page: Page, choices: Any, mastery: float, right: int, verb: str
) -> None:
    with opened_school(page_of_course, masteryScore=mastery) as school:
        page.goto(school.launch())
        expect(page.locator(".school")).to_have_text(LISTENS)
        choose(page, *choices)
        expect(page.locator(".school")).to_have_text(RESULT)
        expect(page.locator(".code")).to_contain_text(f"{right} / 2 · ")
        check_with_axe(page)
        leave(page, school)
        assert school.verbs == [["initialized", verb, "completed", "terminated"]]
        score = {"scaled": right / 2, "raw": right, "min": 0, "max": 2}
        assert school.sessions[0][1]["result"]["score"] == score
        assert school.faults == []


def test_a_session_without_an_answer_has_no_result_and_a_later_one_goes_on_where_it_was_left(
    page_of_course: str, page: Page
) -> None:
    with opened_school(page_of_course) as school:
        page.goto(school.launch())
        expect(page.locator(".school")).to_have_text(LISTENS)
        leave(page, school)
        page.goto(school.launch())
        expect(page.locator(".school")).to_have_text(LISTENS)
        choose(page, "tea")
        eventually(page, lambda: school.documents.get("lesson", {}).get("guesses"), [0, None])
        leave(page, school)
        page.goto(school.launch())
        expect(page.locator("section:visible .verdict")).to_have_text("✗ Not this one")
        choose(page, "good", "good")
        expect(page.locator(".school")).to_have_text(RESULT)
        expect(page.locator(".code")).to_contain_text("1 / 2 · ")  # the first choice counts
        leave(page, school)
        page.goto(school.launch())
        expect(page.locator(".school")).to_have_text(LISTENS)
        choose(page, "good", "good")
        expect(page.locator(".school")).to_have_text(RESULT)
        leave(page, school)
        alone = ["initialized", "terminated"]
        assert school.verbs == [alone, alone, WHOLE, alone]  # a registration has one result
        assert school.faults == []


def test_a_learner_who_has_failed_can_pass_in_a_later_session(
    page_of_course: str, page: Page
) -> None:
    with opened_school(page_of_course, masteryScore=1) as school:
        for choice in ("tea", "good"):
            page.goto(school.launch())
            expect(page.locator(".school")).to_have_text(LISTENS)
            choose(page, choice, choice)
            expect(page.locator(".school")).to_have_text(RESULT)
            leave(page, school)
        first, later = school.verbs
        assert first == ["initialized", "failed", "completed", "terminated"]
        assert later == ["initialized", "passed", "terminated"]
        assert school.faults == []


def test_a_learner_who_looks_around_is_not_judged(page_of_course: str, page: Page) -> None:
    with opened_school(page_of_course, launchMode="Browse") as school:
        page.goto(school.launch())
        expect(page.locator(".school")).to_have_text(LISTENS)
        choose(page, "good", "good")
        expect(page.locator(".code")).to_contain_text("2 / 2 · ")
        leave(page, school)
        assert school.verbs == [["initialized", "terminated"]]
        assert (school.faults, school.documents) == ([], {})


def test_a_learner_goes_back_to_the_school_by_a_button_where_it_names_a_page(
    page_of_course: str, page: Page
) -> None:
    button = page.get_by_role("button", name="Leave the lesson")
    with opened_school(page_of_course) as school:
        school.data["returnURL"] = "javascript:document.title = 'evil'"
        page.goto(school.launch())
        expect(page.locator(".school")).to_have_text(LISTENS)
        expect(button).to_be_hidden()
        leave(page, school)
        school.data["returnURL"] = f"{school.address}/back"
        page.goto(school.launch())
        button.click()
        page.wait_for_url("**/back")
        assert school.verbs == [["initialized", "terminated"]] * 2
        assert school.faults == []


def test_a_learner_is_told_where_the_school_does_not_listen_and_has_the_code(
    page_of_course: str, page: Page
) -> None:
    with opened_school(page_of_course, refuses=True) as school:
        page.goto(school.launch())
        expect(page.locator(".school")).to_contain_text("does not take your answers")
        choose(page, "good", "good")
        expect(page.locator(".code")).to_contain_text("2 / 2 · ")
        assert school.verbs == [[]]


@pytest.mark.parametrize("kind", ["opened by nobody", "no course"])
def test_a_lesson_asks_nobody_unless_a_school_opened_it(
    file: LessonFile, page_of_course: str, page: Page, kind: str, tmp_path: Path
) -> None:
    text = file.page() if kind == "no course" else page_of_course
    with opened_school(text) as school:
        launch = school.launch()  # which a file that is no course does not heed
        page.goto(launch if kind == "no course" else launch.partition("?")[0])
        choose(page, "tea", "good")
        expect(page.locator(".code")).to_contain_text("1 / 2 · ")
        page.goto("about:blank")
        assert [asked for asked in school.asked if "favicon" not in asked] == ["GET /lesson.html"]
    assert ("connect-src" in text) == (kind != "no course")
