"""Message in place of a component whose module cannot be had, or is of another release."""

from __future__ import annotations

from typing import Any

from attention.app.components.base import ADDRESS, LOADER
from tests.browser.browsing import Page, expect

NUMBERS = "/?fold=numbers"
PICTURE = "**/picture/index.js"


def expect_the_rest(page: Page) -> None:
    """Until all other parts of the page are there."""
    expect(page.get_by_label("Sentence", exact=True)).to_have_value("the cat walks on the street")
    expect(page.locator(".st-key-nearest")).to_contain_text("the")


def test_a_module_that_was_cut_off_is_asked_for_again(open_page):
    tries: list[Any] = []

    def cut_off_once(route: Any) -> None:
        tries.append(route)
        route.abort() if len(tries) == 1 else route.continue_()

    page = open_page(NUMBERS, before=lambda page: page.route("**/picture/sums.js", cut_off_once))
    expect(page.locator(".equation")).to_contain_text("ystreet = 0.68")
    expect(page.get_by_role("alert")).to_have_count(0)
    assert len(tries) == 2


def test_a_part_that_cannot_be_loaded_is_a_sentence_until_the_next_change(open_page):
    page = open_page(NUMBERS, before=lambda page: page.route(PICTURE, lambda route: route.abort()))
    said = "This part of the page could not be loaded; reload the page."
    expect(page.get_by_role("alert")).to_have_text([said, said])  # the sentence and its sum
    expect_the_rest(page)
    page.unroute(PICTURE)
    page.get_by_label("Sentence", exact=True).fill("a dog")
    expect(page.locator(".equation")).to_contain_text("ydog =")
    expect(page.get_by_role("alert")).to_have_count(0)
    expect(page.locator(".equation")).to_have_css("display", "flex")


def test_a_page_that_meets_another_release_is_loaded_again(open_page):
    page = open_page(NUMBERS)
    expect_the_rest(page)
    with page.expect_navigation(wait_until="commit"):
        page.evaluate(
            # nothing is awaited: it may be the page's last, and a page that goes may break it off
            "text => void import(URL.createObjectURL(new Blob([text], "
            "{ type: 'text/javascript' }))).catch(() => {})",
            LOADER.replace(ADDRESS, "another"),
        )
    expect_the_rest(page)
