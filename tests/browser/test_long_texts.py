"""A long text in Chromium: put in, its wait, its map, and a row of it."""

from __future__ import annotations

import re

from tests.browser.browsing import (
    eventually,
    expect,
    expect_harmless,
    expect_in_search,
    search,
)
from tests.browser.test_street_map import expect_whole, told
from tests.hostile import HOSTILE
from tests.trained.packaged import packaged

LINES = [*HOSTILE, "the cat walks on the street"] * 60
TEXT = "\n".join(LINES)[:9000]


def test_a_pasted_text_says_its_wait_and_has_a_map_whose_row_is_the_links_query(open_page):
    packaged("smollm2")
    page = open_page("/explore?model=smollm2&layer=4&head=3&s=the+cat")
    page.get_by_role("button", name="More", exact=True).click()
    page.get_by_role("button", name="A longer text").click()
    page.get_by_role("textbox", name="Text").fill(TEXT)
    page.get_by_role("button", name="Read it").click()
    expect(
        page.get_by_text(re.compile("pieces through 4 layers take about .* s here"))
    ).to_be_visible()
    asks = page.get_by_role("button", name="Work it out")
    plot = page.get_by_role("application", name="Weights of the head")
    expect(asks.or_(plot)).to_be_visible()
    if asks.is_visible():
        asks.click()
    expect_whole(plot)
    expect(told(page).last).to_contain_text("Query ")
    box, before = plot.bounding_box(), search(page).get("query")
    page.mouse.click(box["x"] + 100, box["y"] + 200)
    eventually(page, lambda: search(page).get("query") not in (None, before), True)
    query = int(search(page)["query"]) + 1
    plot.focus()
    page.keyboard.press("ArrowDown")
    expect_in_search(page, "query", str(query))
    expect(told(page).last).to_contain_text(f"Query {query:,}")
    expect_harmless(page)
