"""Clicks and keys while the server answers something else: they count, and their results stay."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from tests.browser.browsing import Open, Page, expect, expect_in_search, expect_rest
from tests.browser.test_model_window import head_shown, tile, window
from tests.trained.packaged import packaged

CLICK = "element => element.click()"
MINILM = "/model?model=minilm&layer=3&head=1&query=2"


def window_opened(open_page: Open, link: str = MINILM) -> Page:
    page = open_page(link)
    expect(head_shown(page, "3.1")).to_be_visible()
    expect_rest(page)
    return page


def test_a_click_counts_though_an_answer_comes_between_its_begin_and_its_end(open_page):
    packaged("minilm")
    page = window_opened(open_page)
    word = window(page).locator("button.word").nth(6)
    word.hover()
    page.mouse.down()
    window(page).get_by_role("radio", name="where it looks").evaluate(CLICK)
    expect_in_search(page, "lens", "looks")
    expect_rest(page)
    page.mouse.up()
    expect(word).to_have_attribute("aria-pressed", "true")
    expect_in_search(page, "query", "6")


def test_of_keys_pressed_faster_than_the_server_answers_none_is_lost(open_page):
    packaged("minilm")
    page = window_opened(open_page)
    tile(page, "layer 3", 1).focus()
    for _ in range(4):
        for key in ("x", "ArrowRight"):
            page.keyboard.press(key)
    off = page.get_by_label("Heads that are off", exact=True)
    expect(off).to_have_value("3.1 3.2 3.3 3.4")
    expect(head_shown(page, "3.5")).to_be_visible()
    expect_in_search(page, "head", "5")


def test_the_focus_stays_where_it_is_as_an_answer_comes(open_page):
    packaged("smollm2")
    link = {"model": "smollm2", "s": "The capital of France is", "layer": 3, "head": 1}
    more = {"query": 2, "head_by": "the chosen one"}
    page = window_opened(open_page, "/model?" + urlencode(link | more))

    def expect_focus(focused: Any) -> None:
        expect_rest(page)
        expect(focused).to_be_focused()

    shown = tile(page, "layer 3", 1)
    shown.press("x")
    expect(page.locator(".st-key-team").get_by_role("radio")).to_have_count(2)
    expect_focus(page.get_by_role("radio", name="layer 3, head 1, off"))
    word = window(page).locator("button.word").nth(1)
    word.press("Enter")
    expect_in_search(page, "query", "1")
    expect_focus(word)
    act = window(page).get_by_role("button", name="Passport of 3.1")
    act.press("Enter")
    expect(page.get_by_role("article", name="Passport of head 3.1")).to_be_visible()
    expect_focus(act)
