"""The guide in Chromium: what its words light, and the whole of it by keyboard alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from attention.subjects.guide.chapters import GUIDE
from attention.subjects.guide.reading import read_lesson
from tests.browser.browsing import (
    Page,
    eventually,
    expect,
    expect_harmless,
    expect_in_search,
    expect_to_fit,
)
from tests.browser.test_every_view import check_with_axe
from tests.browser.test_files import drawing
from tests.browser.test_hostile import TAG
from tests.trained.packaged import packaged

CHAPTERS = read_lesson(Path(GUIDE), lambda link, page: []).chapters
FIGURE = ".st-key-guide_seen"
LIGHT = re.compile(r"\]\(#light-([^)]*)")


def lights(page: Page) -> Any:
    return page.locator('.st-key-guide_words a[href^="#light-"]')


def boxes(page: Page) -> list[dict[str, float]]:
    found: list[dict[str, float]] = page.locator(".lights > div").evaluate_all(
        "boxes => boxes.map(box => box.getBoundingClientRect().toJSON())"
    )
    return found


def lit_within(page: Page) -> bool:
    """True if something is lit, and all of it within the figure."""
    figure = page.locator(FIGURE).bounding_box()
    found = boxes(page)
    return bool(found) and all(
        box["left"] > figure["x"] - 9
        and box["right"] < figure["x"] + figure["width"] + 9
        and box["top"] > figure["y"] - 9
        and box["bottom"] < figure["y"] + figure["height"] + 9
        for box in found
    )


@pytest.mark.parametrize("at", range(len(CHAPTERS)))
def test_a_chapter_fits_every_screen_is_accessible_and_lights_what_its_words_speak_of(
    at, open_page
):
    chapter = CHAPTERS[at]
    if chapter.model:
        packaged(chapter.model)
    page = open_page(f"/guide?chapter={chapter.name}")
    check_lights(page, LIGHT.findall(f"{chapter.body} {chapter.hint}"))
    eventually(page, lambda: bottom(page, ".st-key-guide_seen") > 480, True)
    page.set_viewport_size({"width": 390, "height": 844})
    eventually(page, lambda: 200 < figure_with_question(page) < 844 - 60, True)  # the bar on top
    expect_to_fit(page)
    guess(page, 0)
    check_with_axe(page)


def check_lights(page: Page, names: Sequence[str]) -> None:
    """Each of the words lights a part of the figure for as long as it is pointed at."""
    expect(lights(page)).to_have_count(len(names))
    for index in range(len(names)):
        link = lights(page).nth(index)

        def lit(link: Any = link) -> bool:
            page.mouse.move(0, 0)
            link.hover()
            return lit_within(page)

        eventually(page, lit, True)
        page.mouse.move(0, 0)
        eventually(page, lambda: boxes(page), [])
    address = page.url
    if names:
        eventually(page, lambda: lit_by_focus(page), True)
        lights(page).first.blur()
        eventually(page, lambda: boxes(page), [])
        lights(page).first.click()
        eventually(page, lambda: lit_within(page), True)
        assert page.url == address, "the address says where one is, not what is lit"


def lit_by_focus(page: Page) -> bool:
    """True if focus lights what pointing does."""
    lights(page).first.blur()
    lights(page).first.focus()
    return lit_within(page)


def bottom(page: Page, part: str) -> float:
    """Distance down the page that a part of it reaches, 0 while it is not there."""
    box = page.locator(part).bounding_box() or {"y": 0, "height": 0}
    return float(box["y"] + box["height"])


def figure_with_question(page: Page) -> float:
    """The height from the top of the figure to the last choice of the question."""
    top = (page.locator(".st-key-guide_figure").bounding_box() or {"y": 0})["y"]
    box = page.locator(".st-key-guessed").get_by_role("radio").last.bounding_box()
    return float(box["y"] + box["height"] - top) if box else 0.0


def test_the_guide_is_followed_by_keyboard_alone(open_page):
    page = open_page("/guide")
    title = page.get_by_role("heading", level=2).first
    for at, chapter in enumerate(CHAPTERS[:3]):
        if "model" in chapter.link:
            packaged(chapter.link["model"][-1])
        expect(title).to_have_text(chapter.title)
        guess(page, chapter.answer)
        expect(page.get_by_text("Right.", exact=True)).to_be_visible()
        where = {"chapter": chapter.name} if at else {}
        for name, text in ({"guess": str(chapter.answer)} | where).items():
            expect_in_search(page, name, text)
        go_to(page, page.get_by_role("button", name="Next", exact=True))
        page.keyboard.press("Enter")


def guess(page: Page, answer: int) -> None:
    """Goes to the choices by the Tab key, and to the answer by the arrows."""
    choices = page.locator(".st-key-guessed").get_by_role("radio")
    go_to(page, choices.first)
    for _ in range(answer):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(choices.nth(answer)).to_be_checked()


def go_to(page: Page, wanted: Any) -> None:
    """Goes there by the Tab key."""
    expect(wanted).to_be_enabled()
    for _ in range(150):
        if wanted.evaluate("wanted => wanted === document.activeElement"):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"the Tab key does not lead to {wanted}")


def test_another_chapter_begins_at_its_heading_on_a_phone_too(open_page):
    page = open_page("/guide?chapter=softmax", viewport={"width": 390, "height": 844})
    expect(page.locator(".lights")).to_be_attached()  # it knows of the chapter before
    page.get_by_role("button", name="Next").click()
    heading = page.get_by_role("heading", name=CHAPTERS[4].title)
    expect(heading).to_be_in_viewport()
    expect(heading).to_be_focused()


def test_the_card_shows_a_hostile_and_long_sentence_as_text_that_wraps_on_it_and_in_its_file(
    open_page, tmp_path
):
    packaged("smollm2")
    page = open_page("/guide?chapter=trained", viewport={"width": 390, "height": 844})
    guess(page, 0)
    card = page.locator(".st-key-card figure")
    expect(card).to_contain_text("Paris")
    box = page.get_by_role("textbox", name="Try yours")
    box.fill(f"{TAG} {'word ' * 40}&")
    box.press("Enter")
    expect(card).to_contain_text("onerror=alert(1)>")
    expect_harmless(page)
    expect_to_fit(page)
    words = card.locator("bdi").evaluate_all("all => all.map(one => one.getBoundingClientRect())")
    paper = card.bounding_box()
    assert {word["left"] >= paper["x"] for word in words} == {True}
    assert {word["right"] <= paper["x"] + paper["width"] + 1 for word in words} == {True}
    with page.expect_download() as download:
        card.locator("..").get_by_role("button", name="Save this card").click()
    file = tmp_path / "card.svg"
    download.value.save_as(file)
    tags, texts = drawing(file)
    assert {"script", "img", "image"}.isdisjoint(tags)
    assert "onerror=alert(1)>" in "".join(texts).replace(" ", "")
