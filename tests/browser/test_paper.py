"""Every page on A4: all of it, dark on white, without what only a screen can use."""

from __future__ import annotations

import re

from tests.browser.browsing import Page, eventually, expect, expect_rest

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
    ".st-key-ways_on, .st-key-views, .lenses [aria-checked=false], .st-key-examples, "
    ".stTextInput, .stNumberInput, .stSlider, "
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


def sheets(page: Page) -> int:
    """Number of sheets of A4 that the page is printed on."""
    printed: bytes = page.pdf(format="A4")
    return len(re.findall(rb"/Type /Page\b", printed))


def test_the_question_of_a_chapter_is_printed_with_its_choices(open_page):
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


def test_paper_has_the_colours_of_a_light_page_where_the_screen_was_dark(open_page):
    page = open_page("/explore?s=the+cat+sat", color_scheme="dark")
    expect_rest(page)
    least = page.locator(".mixture-bar span").last
    expect(least).to_be_visible()
    lightness = """part => getComputedStyle(part).backgroundColor.match(/\\d+/g).slice(0, 3)
        .reduce((sum, number) => sum + +number, 0)"""
    assert least.evaluate(lightness) < 300
    paper(page)
    eventually(page, lambda: least.evaluate(lightness) > 600, True)
