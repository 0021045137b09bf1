"""Heads in Chromium: the grid, the lines in the heads' colours, and links."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import parse_qsl

from tests.browser.browsing import (
    Open,
    Page,
    eventually,
    expect,
    expect_heatmap,
    expect_rest,
    expect_search,
    search,
)


def tile(page: Page, head: int) -> Any:
    return page.get_by_role("radio", name=f"Head {head}", exact=True)


def chip(page: Page, head: int) -> Any:
    return page.get_by_role("button", name=f"Head {head}", exact=True)


def drawn(page: Page) -> Any:
    """The heads whose lines are drawn."""
    group = page.get_by_role("group", name="Heads drawn")
    return group.get_by_role("button", pressed=True)


def test_heads_are_chosen_and_toggled_by_a_click_and_kept_alone_by_a_double_click(
    open_page: Open,
) -> None:
    page = open_page("/heads?stage=weights")
    expect_heatmap(page)
    tile(page, 1).click()
    expect_search(page, {"head": "1"})
    page.keyboard.press("Home")
    expect_search(page, {})
    expect(tile(page, 0)).to_have_attribute("aria-checked", "true")
    chip(page, 1).click()
    expect(drawn(page)).to_have_text(["0", "2", "3", "4"])
    expect_search(page, {"active": "0,2,3,4"})
    expect_rest(page)
    chip(page, 3).dblclick()
    expect(drawn(page)).to_have_text(["3"])
    expect_search(page, {"active": "3"})
    expect_rest(page)
    chip(page, 3).dblclick()
    expect(drawn(page)).to_have_text(["0", "1", "2", "3", "4"])
    expect_search(page, {})


def test_arrow_keys_look_at_heads_and_a_click_or_enter_guesses_which_one_is_asked_for(
    open_page: Open,
) -> None:
    page = open_page("/heads")
    question = page.get_by_role("heading", name="Which head looks one word back?")
    expect(question).to_be_visible()
    expect_rest(page)
    tile(page, 0).focus()
    page.keyboard.press("ArrowRight")
    expect_search(page, dict(parse_qsl(page.url.partition("?")[2])) | {"head": "1"})
    expect(page.locator(".told", has_text="Click the one you think it is.")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.locator(".told", has_text="No: head 1 has ")).to_be_visible()
    expect(page.locator(".marked")).to_have_accessible_description(
        re.compile("^the head asked for")
    )
    expect(question).to_be_visible()


def test_a_query_is_previewed_by_hovering_and_chosen_by_keys(open_page: Open) -> None:
    page = open_page("/heads?active=0,1&cover=1.0&head=1&query=2")
    summary = page.locator(".summary")
    expect(summary).to_contain_text("From “walks”")
    page.get_by_role("option").nth(5).hover()
    expect(summary).to_contain_text("From “street”")
    page.mouse.move(5, 5)
    expect(summary).to_contain_text("From “walks”")
    assert search(page)["query"] == "2"
    page.get_by_role("list", name="Keys").get_by_role("listitem").nth(5).hover()
    expect(summary).to_contain_text("“walks” to “street”: head 0 0.")
    page.mouse.move(5, 5)
    page.get_by_role("listbox").focus()
    page.keyboard.press("Home")
    expect(page.get_by_text("the query of “the (0)”")).to_be_visible()
    eventually(page, lambda: "query" in search(page), False)
