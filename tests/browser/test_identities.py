"""Identities in Chromium: links, the keyboard, a phone."""

from __future__ import annotations

from tests.browser.browsing import (
    Open,
    check_link,
    eventually,
    expect,
    expect_search,
    expect_to_fit,
)


def test_a_link_shows_its_claim_in_either_theme(open_page: Open) -> None:
    link = {"claim": "permute", "tokens": "5", "claim_seed": "7"}
    page = open_page("/identities?claim=permute&tokens=5&claim_seed=7", color_scheme="light")
    verdicts = page.locator(".numbers").first.locator("td")
    expect(verdicts.nth(2)).to_have_text("the same")
    expect(verdicts.nth(5)).to_have_text("different")
    expect(verdicts.nth(8)).to_have_text("different")
    expect(page.locator("figure").first.locator("td.cell")).to_have_count(5 * 2)
    expect_search(page, link)
    check_link(page, open_page)
    told = verdicts.all_inner_texts()
    background = "getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor"
    light = page.evaluate(background)
    page.emulate_media(color_scheme="dark")
    eventually(page, lambda: page.evaluate(background) != light, True)
    expect(verdicts).to_have_text(told)


def test_all_is_within_reach_of_the_keyboard_and_fits_a_phone(open_page: Open) -> None:
    page = open_page("/identities")
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
