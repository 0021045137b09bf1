"""Heads in Chromium: the grid, the lines in the heads' colours, and links."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from tests.browser.browsing import (
    Open,
    Page,
    eventually,
    expect,
    expect_heatmap,
    expect_in_search,
    expect_rest,
    expect_search,
    expect_to_fit,
    search,
)

LONG = " ".join(f"{one}{two}" for one in "abcdefghijklmnopqrst" for two in "abcdefghijklmnopqrst")


def tile(page: Page, head: int) -> Any:
    return page.get_by_role("radio", name=f"Head {head}", exact=True)


def chip(page: Page, head: int) -> Any:
    return page.get_by_role("button", name=f"Head {head}", exact=True)


def drawn(page: Page) -> Any:
    """The heads whose lines are drawn."""
    group = page.get_by_role("group", name="Heads drawn")
    return group.get_by_role("button", pressed=True)


def picture(page: Page, canvas: str) -> str:
    painted = page.locator(f"{canvas}[data-version]").first
    return str(painted.evaluate("canvas => canvas.toDataURL()"))


def test_a_head_is_chosen_by_click_and_by_arrow_keys(open_page: Open) -> None:
    page = open_page("/heads?stage=weights")
    expect_heatmap(page)
    tile(page, 3).click()
    expect(page.get_by_text("Neurons of head 3")).to_be_visible()
    expect_search(page, {"head": "3"})
    page.keyboard.press("ArrowRight")
    expect(page.get_by_text("Neurons of head 4")).to_be_visible()
    page.keyboard.press("Home")
    expect(page.get_by_text("Neurons of head 0")).to_be_visible()
    expect(tile(page, 0)).to_have_attribute("aria-checked", "true")


def test_heads_are_toggled_by_a_click_and_kept_alone_by_a_double_click(open_page: Open) -> None:
    page = open_page("/heads?stage=weights")
    expect_heatmap(page)
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
    expect_rest(page)
    chip(page, 4).focus()
    page.keyboard.press("Shift+Enter")
    expect(drawn(page)).to_have_text(["4"])
    expect_search(page, {"active": "4"})


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
    shown = page.locator(".numbers").last.locator("tbody tr").nth(5).locator("td").last
    expect(summary).to_contain_text(f"head 1 {float(shown.inner_text()):.3f}.")
    page.mouse.move(5, 5)
    page.get_by_role("listbox").focus()
    page.keyboard.press("Home")
    expect(page.get_by_text("the query of “the (0)”")).to_be_visible()
    eventually(page, lambda: "query" in search(page), False)


def test_pictures_follow_the_theme_and_fit_a_phone(open_page: Open) -> None:
    page = open_page(
        "/heads?stage=weights", color_scheme="light", viewport={"width": 390, "height": 800}
    )
    canvases = ("canvas.grid", ".between canvas")
    light = [picture(page, canvas) for canvas in canvases]
    expect_to_fit(page)
    page.emulate_media(color_scheme="dark")
    for canvas, before in zip(canvases, light, strict=True):
        eventually(page, lambda canvas=canvas, before=before: picture(page, canvas) != before, True)


def test_a_long_sentence_is_chosen_from_by_click_and_keeps_its_place(open_page: Open) -> None:
    page = open_page("/heads?" + urlencode({"s": LONG, "query": "300", "heads": "10"}))
    expect(page.get_by_text("Each square is the greatest of")).to_be_visible()
    expect(page.locator("#option-300[aria-selected=true]")).to_be_attached()
    page.get_by_role("option").nth(301).click()
    word = LONG.split()[301]
    expect(page.get_by_text(f"the query of “{word}”")).to_be_visible()
    expect(page.get_by_text(f"From “{word}”")).to_be_visible()
    expect_in_search(page, "query", "301")


def test_pointing_at_a_key_tells_its_weights_and_draws_no_line_again(open_page: Open) -> None:
    page = open_page("/heads?" + urlencode({"s": LONG, "query": "300", "heads": "10"}))
    expect_rest(page)
    lines = page.locator(".st-key-head_view canvas[data-version]")
    keys = page.get_by_role("list", name="Keys").get_by_role("listitem")
    words = LONG.split()
    expect(page.get_by_text(f"From “{words[300]}”")).to_be_visible()

    def drawings(key: int) -> str:
        keys.nth(key).hover()
        expect(page.get_by_text(f"“{words[300]}” to “{words[key]}”: head 0")).to_be_visible()
        return str(lines.get_attribute("data-version"))

    eventually(page, lambda: drawings(301) == drawings(302), True)
