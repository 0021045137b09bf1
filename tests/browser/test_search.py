"""The search on top of each page, by keys alone."""

from __future__ import annotations

import re

from tests.browser.browsing import expect, expect_in_search, expect_rest


def test_a_slash_and_a_word_lead_to_its_place_with_all_that_is_set(open_page):
    page = open_page("/explore?s=a+dog+barked&mask=causal", color_scheme="dark")
    expect(page.get_by_role("button", name="Search")).to_be_visible()  # brings the key / with it
    page.keyboard.press("/")
    box = page.get_by_role("searchbox")
    expect(box).to_be_focused()
    page.keyboard.type("zebra<b>")
    none = page.locator(".st-key-search [role=status]")
    expect(none).to_have_text("Nothing is called “zebra<b>” here.")
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("raw weihgts")
    hits = page.locator(".hits a")
    expect(hits.first).to_contain_text("Scores")
    page.keyboard.press("ArrowDown")
    expect(hits.first).to_be_focused()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("fold=how"))
    for name, value in {"s": "a dog barked", "mask": "causal"}.items():
        expect_in_search(page, name, value)
    expect(page.get_by_role("radio", name="How")).to_be_checked()


def test_a_slash_that_is_typed_stays_one_and_escape_closes_the_search(open_page):
    page = open_page("/model")
    expect_rest(page)
    box = page.get_by_role("textbox").first
    box.press("/")
    expect(page.get_by_role("searchbox")).to_be_hidden()
    page.get_by_role("button", name="Search").click()
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("searchbox")).to_be_hidden()
