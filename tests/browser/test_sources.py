"""Sources in Chromium: from the bare address to any step in three acts, and the step it opens."""

from __future__ import annotations

from tests.browser.browsing import expect, expect_in_search, expect_rest

LAYER = "16.8185"


def test_any_step_is_three_acts_from_the_bare_address_and_opens_with_its_number(open_page):
    page = open_page("/")
    menu = page.get_by_test_id("stTopNav")
    menu.get_by_role("link", name="Laboratory").click()
    page.locator(".st-key-views").get_by_role("link", name="Sources").click()
    page.locator(".st-key-document").get_by_text("Attention Mechanism", exact=True).click()
    expect_in_search(page, "document", "Attention Mechanism")
    step = page.locator(".source .step", has_text=LAYER)
    expect(step).to_be_visible()
    expect_rest(page)
    with page.context.expect_page() as opening:
        step.get_by_role("link", name="Open").click()
    opened = opening.value
    expect(opened.get_by_role("gridcell", name=LAYER)).to_be_visible()
