"""Clicks and keys while the server answers something else: they count, and their results stay."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from tests.browser.browsing import (
    Open,
    Page,
    expect,
    expect_heatmap,
    expect_in_search,
    expect_rest,
    expect_search,
)
from tests.browser.test_heads import chip, drawn
from tests.browser.test_model_window import head_shown, tile, window
from tests.browser.test_picture import LATE, TOLD
from tests.trained.packaged import packaged

CLICK = "element => element.click()"
MINILM = "/model?model=minilm&layer=3&head=1&query=2"


def window_opened(open_page: Open, link: str = MINILM) -> Page:
    page = open_page(link)
    expect(head_shown(page, "3.1")).to_be_visible()
    expect_rest(page)
    return page


def test_a_click_counts_though_an_answer_comes_between_its_begin_and_its_end(
    open_page: Open,
) -> None:
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


def test_of_keys_pressed_faster_than_the_server_answers_none_is_lost(open_page: Open) -> None:
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


def test_cells_hidden_in_a_row_by_keys_are_all_hidden(open_page: Open) -> None:
    page = open_page("/?mask=cells")
    expect_heatmap(page)
    expect_rest(page)
    page.locator("[data-query='0'][data-key='0']").focus()
    for _ in range(5):
        for key in ("Space", "ArrowRight"):
            page.keyboard.press(key)
    expect_search(page, {"mask": "cells", "cells": "0:0-4"})
    expect(page.locator("[data-query][aria-pressed=true]")).to_have_count(5)


def test_of_three_presses_in_a_row_each_adds_a_row(open_page: Open) -> None:
    page = open_page("/steps?input=matrices&step=scores")
    expect_rest(page)
    page.get_by_role("button", name="+ row of X", exact=True).focus()
    for _ in range(3):
        page.keyboard.press("Enter")
    expect_in_search(page, "own_x", "; ".join(["1 0 1 0", "0 2 0 2", "1 1 1 1", *["0 0 0 0"] * 3]))
    expect(page.get_by_label("X, row 5, column 3", exact=True)).to_have_value("0")


def test_a_head_that_is_turned_off_before_the_last_click_is_answered_stays_off(
    open_page: Open,
) -> None:
    page = open_page("/heads?stage=weights", before=lambda page: page.add_init_script(LATE))
    expect(drawn(page)).to_have_count(5)
    expect_rest(page)
    chip(page, 1).click()
    page.wait_for_function(TOLD, arg="head_view.active")  # and has not answered
    chip(page, 2).click()
    expect_in_search(page, "active", "0,3,4")
    expect(drawn(page)).to_have_text(["0", "3", "4"])
    page.context.close()


def test_the_focus_stays_where_it_is_as_an_answer_comes(open_page: Open) -> None:
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
    act = window(page).get_by_role("button", name="Switch its whole layer")
    act.press("Enter")
    expect(page.get_by_label("Heads that are off", exact=True)).to_have_value("3")
    expect_focus(act)
