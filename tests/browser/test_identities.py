"""Identities in Chromium: cards, links, the keyboard, a phone."""

from __future__ import annotations

from tests.browser.browsing import (
    Open,
    expect,
    expect_rest,
    expect_search,
    expect_to_fit,
)


def test_all_is_within_reach_of_the_keyboard_and_fits_a_phone(open_page: Open) -> None:
    page = open_page("/identities")
    page.locator(".st-key-guess_0").get_by_role("radio", name="True").press("Enter")
    page.locator(".st-key-closer_matrices_0").get_by_role("button").press("Enter")
    expect(page.locator(".st-key-tokens")).to_be_visible()
    expect_rest(page)
    page.get_by_role("radio", name="scale", exact=True).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect_search(page, {"claim": "merge"})
    box = page.locator(".st-key-tokens").get_by_role("spinbutton")
    box.fill("4")
    box.press("Enter")
    expect_search(page, {"claim": "merge", "tokens": "4"})
    cells = page.locator("figure").first.locator("td.cell")
    expect(cells).to_have_count(4 * 4)
    page.set_viewport_size({"width": 390, "height": 844})
    page.reload()
    expect(cells).to_have_count(4 * 4)
    expect_to_fit(page)
