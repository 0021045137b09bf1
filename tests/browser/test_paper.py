"""Every page on A4: all of it, dark on white, without what only a screen can use."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import Any

from tests.browser.browsing import (
    Open,
    Page,
    eventually,
    expect,
    expect_heatmap,
    expect_in_search,
    expect_rest,
)

A4 = {"width": 718, "height": 1047}  # its pixels between the margins
HALF_GONE = """() => {
  const cut = []
  const right = document.documentElement.clientWidth + 1
  const look = (node) => {
    if (!node.checkVisibility() || node.closest("svg, canvas, .katex")) return
    const box = node.getBoundingClientRect()
    const style = getComputedStyle(node)
    const scrolls = /auto|scroll/.test(style.overflowX) && node.scrollWidth > node.clientWidth + 1
    if (box.width && (box.right > right || scrolls)) cut.push(`${node.localName} ${node.className}`)
    for (const child of (node.shadowRoot ?? node).children) look(child)
  }
  look(document.querySelector(".stMainBlockContainer"))
  return cut
}"""
ON_SCREEN_ALONE = (
    "[data-testid=stSidebar], [data-testid=stHeader], .st-key-copy_link .share, "
    ".st-key-ways_on, .st-key-examples, .stTextInput, .stNumberInput, .stSlider, "
    ".stButtonGroup:not(.st-key-guessed *, .st-key-misled *), .on-screen, .st-key-to_try"
)
DARK_ON_WHITE = """() => {
  const styles = [".page-title h1", "[data-testid=stMain]"].map((selector) =>
    getComputedStyle(document.querySelector(selector)))
  const light = (colour) =>
    colour.match(/[\\d.]+/g).slice(0, 3).reduce((sum, part) => sum + +part, 0)
  return [light(styles[0].color) < 200, light(styles[1].backgroundColor)]
}"""
LINES = """(element) => {  // how high the place for an answer is, in pixels
  const { content, height } = getComputedStyle(element, "::after")
  return content === "none" ? 0 : Number.parseFloat(height)
}"""
ZOOM = "() => document.documentElement.style.getPropertyValue('--print-zoom')"


def paper(page: Page) -> None:
    """Put the page on A4, as it was on the screen a moment ago."""
    page.emulate_media(media="print")
    page.set_viewport_size(A4)


def test_the_sentence_and_the_settings_stand_on_top_of_the_paper(open_page: Open) -> None:
    page = open_page("/?variant=additive&scale=none&s=<b>a</b>+cat")
    expect_heatmap(page)
    line = page.locator(".on-paper")
    expect(line).to_be_hidden()
    paper(page)
    expect(line).to_have_text("Sentence: “<b>a</b> cat” · Additive attention · Scale: none")
    expect(page.locator(".address")).to_have_text(page.url)


def test_the_chosen_token_and_the_address_of_the_view_are_printed(open_page: Open) -> None:
    page = open_page("/explore?s=a+cat+sat+there")
    expect_heatmap(page)
    page.locator(".queries .token").nth(2).click()
    expect_in_search(page, "query", "2")
    paper(page)
    expect(page.locator(".on-paper")).to_contain_text("Query token: 2")
    expect(page.locator(".address")).to_have_text(page.url)


def test_figures_of_the_dark_theme_are_painted_in_the_light_ones_colours(open_page: Open) -> None:
    page = open_page("/heads?stage=weights", color_scheme="dark")
    light = open_page("/heads?stage=weights", color_scheme="light")
    painted = "canvas => canvas.toDataURL()"
    for each in (page, light):
        expect_heatmap(each)
        expect_rest(each)
        each.wait_for_function(ZOOM)
    for key in ("head_grid", "picture"):
        canvas, other = (each.locator(f".st-key-{key} canvas").first for each in (page, light))
        assert canvas.evaluate(painted) != other.evaluate(painted)
    paper(page)
    for key in ("head_grid", "picture"):
        other = light.locator(f".st-key-{key} canvas").first.evaluate(painted)
        canvas = page.locator(f".st-key-{key} canvas").first
        eventually(page, partial(canvas.evaluate, painted), other)


def test_the_question_of_a_chapter_is_printed_with_its_choices(open_page: Open) -> None:
    page = open_page("/guide?chapter=scores")
    expect_rest(page)
    question = page.locator(".st-key-guessed")
    paper(page)
    expect(question.get_by_test_id("stWidgetLabel")).to_be_visible()
    choices = question.get_by_role("radio")
    expect(choices.first).to_be_visible()
    assert choices.count() > 1
    expect(choices.last).to_be_visible()
    assert question.locator(".stButtonGroup").evaluate(LINES) > 90
    expect(page.get_by_text("Click a cell to choose its row.")).to_be_hidden()
    expect(page.get_by_text("Type yours in the box on top.")).to_be_hidden()
    answered = open_page("/guide?chapter=scores&guess=1")
    expect_rest(answered)
    paper(answered)
    assert not answered.locator(".st-key-guessed .stButtonGroup").evaluate(LINES)


def test_a_task_is_printed_with_lines_to_answer_on_and_nothing_of_the_screen(
    open_page: Open,
) -> None:
    page = open_page("/steps?predict=on&step=weights")
    expect_rest(page)
    paper(page)
    asked = page.locator(".st-key-to_answer")
    expect(asked).to_contain_text("Which key gets the most in the row of")
    expect(asked.get_by_text("Click it in that row.")).to_be_hidden()
    assert asked.evaluate(LINES) > 90


def test_sixty_tokens_and_their_diagram_are_printed_on_three_pages(open_page: Open) -> None:
    page = open_page("/?s=" + "+".join(["the+cat+walks+on+the+street"] * 10))
    expect_heatmap(page)
    expect(page.locator(".equation")).to_be_visible()
    printed: Any = page.pdf(format="A4")
    assert len(re.findall(rb"/Type /Page\b", printed)) == 3


def test_explore_is_printed_on_one_page(open_page: Open, tmp_path: Path) -> None:
    page = open_page("/explore")
    expect_heatmap(page)
    expect(page.locator(".equation")).to_be_visible()
    printed: Any = page.pdf(format="A4")
    assert len(re.findall(rb"/Type /Page\b", printed)) == 1


def test_a_model_is_printed_on_three_pages_at_most(open_page: Open) -> None:
    page = open_page("/model")
    expect(page.locator(".st-key-model_window canvas").first).to_be_visible()
    expect_rest(page)
    printed: Any = page.pdf(format="A4")
    assert len(re.findall(rb"/Type /Page\b", printed)) <= 3
