"""Play in Chromium: a sentence, one line of controls, and five folds in its columns."""

from __future__ import annotations

import re
from functools import partial
from typing import Any
from urllib.parse import urlencode

from attention.app.state.openings import opening
from tests.browser.browsing import (
    Page,
    check_link,
    choice,
    eventually,
    expect,
    expect_heatmap,
    expect_in_search,
    expect_rest,
    expect_to_fit,
    search,
)
from tests.browser.test_fits import TOUCHING
from tests.browser.test_paper import sheets

OPENING = opening()
OWN = {"s": "rain fell softly on the old roof", "variant": "multihead", "heads": "5"}
APART = """() => {
  const [grid] = [...document.querySelectorAll("*")].flatMap((each) =>
    [...(each.shadowRoot?.querySelectorAll("[data-layout=under] .grid") ?? [])])
  const edges = (elements) => [...elements].map((each) => each.getBoundingClientRect())
  const words = edges(document.querySelectorAll(".word"))
  const cells = grid ? edges(grid.querySelectorAll(".row:nth-child(2) .cell")) : []
  return words.length === cells.length && words.every(({ left, width }, at) =>
    Math.abs(left - cells[at].left) <= 1 && Math.abs(width - cells[at].width) <= 1)
}"""
# The component that holds the focus after each of so many presses of Tab.
HOLDS = """() => {
  const host = document.activeElement.closest("[class*=st-key-]")
  return host?.className.match(/st-key-(\\w+)/)?.[1] ?? ""
}"""


def link(**settings: object) -> str:
    return "/?" + urlencode(settings)


def name_of(page: Page, name: str) -> Any:
    """The name at the left of a row of numbers."""
    return page.get_by_role("rowheader").filter(has_text=re.compile(f"^{re.escape(name)}$"))


def cells(page: Page, name: str) -> Any:
    return page.get_by_role("row").filter(has=name_of(page, name)).locator(".cell")


def told(page: Page) -> Any:
    return page.locator(".told").last


def open_fold(page: Page, fold: str) -> None:
    choice(page, "fold", fold).click()
    expect_in_search(page, "fold", fold)
    expect_rest(page)


def test_numbers_of_each_fold_stand_in_the_columns_of_the_words_and_follow_the_chosen_one(
    open_page,
):
    page = open_page("/")
    for fold in ("how", "all heads", "against"):
        open_fold(page, fold)
        for width in (1280, 1440):
            page.set_viewport_size({"width": width, "height": 900})
            eventually(page, lambda: page.evaluate(APART), True)
    before = cells(page, "tired").all_inner_texts()
    page.locator(".word").nth(4).click()
    eventually(page, lambda: cells(page, "tired").all_inner_texts() != before, True)
    expect_in_search(page, "query", "4")
    cells(page, "tired").nth(6).hover()
    expect(page.locator(".word").nth(6)).to_have_class("word pointed")
    page.set_viewport_size({"width": 390, "height": 900})
    first, last = cells(page, "tired").nth(0), cells(page, "tired").nth(6)
    eventually(page, lambda: first.bounding_box()["x"], lambda: last.bounding_box()["x"])
    assert first.bounding_box()["y"] < last.bounding_box()["y"]
    expect_to_fit(page)


def test_keys_lead_through_heads_and_layers_and_tab_comes_to_each_figure_once(open_page):
    page = open_page(link(**OPENING.chosen, s=OPENING.sentences[0], fold="all heads"))
    expect(cells(page, "3.1").nth(1)).to_contain_text("76")
    page.locator(".sentence").focus()
    held = []
    for _ in range(24):
        page.keyboard.press("Tab")
        held.append(page.evaluate(HOLDS))
    assert held.count("rows") == 1, held

    arc = page.locator(".arc").first
    thick = arc.get_attribute("style")
    name_of(page, "3.1").press("ArrowDown")
    expect_in_search(page, "head", "2")
    eventually(page, lambda: arc.get_attribute("style") != thick, True)
    expect(name_of(page, "3.2")).to_be_focused()
    page.keyboard.press("PageDown")
    expect_in_search(page, "layer", "4")
    expect(name_of(page, "4.2")).to_be_focused()
    page.keyboard.press("PageUp")
    expect_in_search(page, "layer", "3")


def test_marked_heads_have_arcs_of_their_own(open_page):
    page = open_page(link(**OWN, fold="all heads"))
    strands = page.locator(".stage g g path")
    expect(cells(page, "head 0")).to_have_count(7)
    expect(strands).to_have_count(0)
    name_of(page, "head 3").get_by_role("button", name="Mark head 3").click()
    expect_in_search(page, "active", "3")
    expect(strands).to_have_count(7)
    assert "head" not in search(page)
    name_of(page, "head 3").press("ArrowUp")
    name_of(page, "head 2").press("Shift+Enter")
    expect_in_search(page, "active", "2,3")
    expect(strands).to_have_count(14)


def test_the_scale_moves_without_a_round_trip_and_is_kept_when_let_go(open_page):
    page = open_page(link(**OWN, fold="against", differs="scale"))
    slider = page.get_by_role("slider", name="Scale, as a multiple of that of A")
    change = cells(page, "difference")
    expect(change).to_have_text(["0.0"] * 7)
    expect_rest(page)
    box = slider.bounding_box()
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] / 8, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2, middle)
    eventually(page, lambda: change.all_inner_texts() == ["0.0"] * 7, False)
    assert "b_factor" not in search(page)
    moved = change.all_inner_texts()
    page.mouse.up()
    eventually(page, lambda: float(search(page).get("b_factor", 0)), float(slider.input_value()))
    expect_rest(page)
    assert change.all_inner_texts() == moved
    check_link(page, open_page)


TALLER = """sentence => ({
  sentence: sentence.offsetHeight > innerHeight / 3 + 1,
  arcs: sentence.previousElementSibling.getBBox().height > sentence.offsetHeight,
})"""


def test_a_long_sentence_takes_a_third_of_the_screen_and_shows_the_chosen_word(open_page):
    page = open_page(link(s="the cat sat on a mat " * 60, query=357))
    sentence = page.locator(".stage .sentence")
    for key, at in {"": 357, "Home": 0, "End": 359}.items():
        if key:
            sentence.press(key)
        chosen = sentence.locator("[aria-selected=true]")
        expect(chosen).to_have_id(f"option-{at}")
        expect(chosen).to_be_in_viewport(ratio=1)
        eventually(page, partial(sentence.evaluate, TALLER), {"sentence": False, "arcs": False})
    bar = page.locator(".mixture-bar")
    expect(bar.locator(".rest")).to_have_text("300 more")
    widths = "bar => [...bar.children].reduce((sum, part) => sum + part.offsetWidth, 0)"
    assert bar.evaluate(f"bar => Math.abs(bar.offsetWidth - ({widths})(bar)) < 40")


def test_sixty_words_scroll_or_shrink_to_colour_beside_the_page(open_page):
    page = open_page(link(s=" ".join(f"{'word' * (1 + at % 3)}{at}" for at in range(60))))
    for width in (390, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        expect_heatmap(page)
        eventually(page, lambda: page.evaluate(TOUCHING), [])
    for fold in ("how", "against"):
        open_fold(page, fold)
        for width in (390, 1280):
            page.set_viewport_size({"width": width, "height": 844})
            expect_to_fit(page)
            expect(cells(page, "softmax" if fold == "how" else "B").first).to_be_attached()
    assert sheets(page) <= 3
