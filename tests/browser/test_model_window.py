"""The window of a model in Chromium: heads, switches, words, links, and slow answers."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlencode

import pytest

from attention.trained import sources
from tests.browser.browsing import (
    Open,
    Page,
    check_link,
    eventually,
    expect,
    expect_in_search,
    expect_rest,
    expect_search,
    values,
)
from tests.cases import over
from tests.trained.packaged import packaged


@pytest.fixture(autouse=True)
def _with_models() -> None:
    """The server has the models that are installed here."""
    for name in ("minilm", "en-pt"):
        if name not in sources.names():
            packaged(name)


def tile(page: Page, layer: str, head: int) -> Any:
    return page.get_by_role("radio", name=f"{layer}, head {head}", exact=True)


def window(page: Page) -> Any:
    return page.locator(".st-key-model_window")


def head_shown(page: Page, name: str) -> Any:
    """The title of the large head."""
    return window(page).get_by_role("heading", name=f"Head {name} ")


def test_pointing_shows_a_head_heads_are_switched_off_and_clicked_words_are_linked(open_page):
    page = open_page("/model?model=minilm&layer=3&head=1&query=2")
    chosen = head_shown(page, "3.1")
    expect(chosen).to_be_visible()
    tile(page, "layer 2", 7).hover()
    expect(head_shown(page, "2.7")).to_be_visible()
    expect(window(page).locator(".told").first).to_contain_text("head 2.7")
    switch = window(page).get_by_role("switch", name="Head 3.1")
    expect(switch).to_contain_text("head 3.1 is onclick 2.7 to switch that")
    page.mouse.move(0, 0)
    expect(chosen).to_be_visible()
    told = window(page).locator(".told.off")
    switch.click()
    expect(switch).to_have_attribute("aria-checked", "false")
    expect(told).to_contain_text("Without head 3.1")
    page.get_by_role("radio", name="layer 3, head 1, off").press("ArrowRight")
    tile(page, "layer 3", 2).press("x")
    expect(told).to_contain_text("Without heads 3.1 and 3.2")
    eventually(page, lambda: values(page, "Heads that are off"), ["3.1 3.2"])
    check_link(page, open_page)
    window(page).get_by_role("button", name="All on again").click()
    expect(told).to_be_hidden()
    words = window(page).locator("button.word")
    words.nth(6).click()
    expect(words.nth(6)).to_have_attribute("aria-pressed", "true")
    words.nth(2).click()
    expect(window(page).locator(".told").first).to_contain_text("“street”")
    expect(window(page).locator(".word.asked")).to_have_text(re.compile("cat"))


def test_of_two_clicked_words_the_one_that_asks_stands_in_the_address_and_the_lens_says_it(
    open_page,
):
    packaged("smollm2")
    page = open_page("/model?" + urlencode({"model": "smollm2", "s": "The capital of France is"}))
    words = window(page).locator("button.word")
    expect(words.nth(4)).to_have_attribute("aria-pressed", "true")
    expect(head_shown(page, "23.4")).to_be_visible()
    expect(window(page).locator(".arc path")).to_have_count(1)
    words.nth(1).click()
    expect(words.nth(1)).to_have_attribute("aria-pressed", "true")
    words.nth(3).click()
    lens = window(page).get_by_role("radio", name="who looks from “France” at “capital”")
    expect(lens).to_have_attribute("aria-checked", "true")
    expect(window(page).locator(".legend")).to_contain_text("at least 10 % of their weight")
    expect_search(
        page, {"model": "smollm2", "s": "The capital of France is", "query": "3", "key": "1"}
    )
    window(page).get_by_role("radio", name="what is lost without it").click()
    expect(lens).to_have_count(0)
    expect(window(page).locator(".word.asked")).to_have_count(0)


NAME_MOVER = {"layer": 23, "head": 0}
END = """path => {
  const { x } = path.getPointAtLength(path.getTotalLength())
  const at = path.ownerSVGElement.getBoundingClientRect().left + x
  const parts = [...path.getRootNode().querySelectorAll(".word, .answer")]
  const far = (part) => {
    const { left, width } = part.getBoundingClientRect()
    return Math.abs(left + width / 2 - at)
  }
  return parts.sort((one, other) => far(one) - far(other))[0].classList[0]
}"""


@over(
    "settings, end",
    [
        ({"s": "The capital of France is"}, "word"),  # says Paris, looks at France
        (
            {"s": "When Mary and John went to the store, John gave a drink to", **NAME_MOVER},
            "answer",
        ),
    ],
)
def test_an_arc_leads_to_the_answer_only_from_the_same_word(settings, end, open_page):
    packaged("smollm2")
    page = open_page("/model?" + urlencode({"model": "smollm2", **settings}))
    expect_rest(page)
    arc = window(page).locator(".arc path")
    expect(arc).to_have_count(1)
    eventually(page, lambda: arc.evaluate(END), end)


def test_one_tab_leads_to_the_head_space_switches_it_and_on_a_phone_arc_and_words_stay_in_sight(
    open_page,
):
    packaged("smollm2")
    page = open_page("/model?" + urlencode({"model": "smollm2", "s": "The capital of France is"}))
    expect(head_shown(page, "23.4")).to_be_visible()
    page.get_by_label("Sentence", exact=True).press("Tab")
    expect(page.get_by_role("radio", name="layer 23, head 4, strongest")).to_be_focused()
    switch = window(page).get_by_role("switch", name="Head 23.4")
    page.keyboard.press("Space")
    expect(switch).to_have_attribute("aria-checked", "false")
    page.keyboard.press("Space")
    expect(switch).to_have_attribute("aria-checked", "true")
    page.keyboard.press("ArrowDown")
    expect(head_shown(page, "23.5")).to_be_visible()
    for buttons in (".word", ".bars button"):  # Tab reaches one, arrow keys the others
        expect(window(page).locator(f"{buttons}[tabindex='0']")).to_have_count(1)
        window(page).locator(buttons).first.press("ArrowRight")
        expect(window(page).locator(buttons).nth(1)).to_be_focused()
    page.set_viewport_size({"width": 390, "height": 844})
    expect(window(page).locator(".arc path")).to_have_count(1)
    tile(page, "layer 28", 3).click()
    switch = window(page).get_by_role("switch", name="Head 28.3")
    expect(switch).to_be_in_viewport()
    expect(window(page).locator(".told").first).to_be_in_viewport()
    switch.click()
    expect(switch).to_contain_text("head 28.3 is off")
    expect(switch).to_be_in_viewport()


def test_a_tuned_model_stands_beside_its_base_and_a_switch_puts_a_head_of_that_back(open_page):
    packaged("smollm2-giver")
    text = "David met Simon at the store. David gave the phone to"
    link = {"model": "smollm2-giver", "s": text, "layer": 29, "head": 1}
    page = open_page("/model?" + urlencode(link))
    switch = window(page).get_by_role("switch", name="Head 29.1")
    expect(switch).to_contain_text("head 29.1 is tuned")
    expect(window(page).locator(".word em")).to_have_count(12)
    expect(window(page).locator("output.answer")).to_contain_text("in the base")
    switch.click()
    expect(switch).to_contain_text("head 29.1 is the base's")
    expect(window(page).locator(".told.off")).to_contain_text("With head 29.1 as in the base")
    expect(window(page).get_by_role("heading", name="Next word in the base")).to_be_visible()
    window(page).get_by_role("radio", name="weights moved").click()
    window(page).get_by_role("combobox").select_option("W_OV")
    expect(window(page).locator(".legend")).to_contain_text("W_OV moved")
    for name, value in {"off": "29.1", "lens": "weights", "tiles": "W_OV"}.items():
        expect_in_search(page, name, value)


MINILM = "/model?model=minilm&layer=3&head=1&query=2"


def window_opened(open_page: Open, link: str = MINILM) -> Page:
    page = open_page(link)
    expect(head_shown(page, "3.1")).to_be_visible()
    expect_rest(page)
    return page


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
