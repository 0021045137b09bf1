"""What stands in place of a component whose module cannot be had, or is of another version."""

from __future__ import annotations

from tests.browser.browsing import Open, Page, expect

HEATMAP = "**/heatmap/index.js"


def test_a_module_that_cannot_be_loaded_leaves_a_sentence_in_place(open_page: Open) -> None:
    page = open_page(before=lambda page: page.route(HEATMAP, lambda route: route.abort()))
    expect(page.get_by_role("alert")).to_have_text(
        "This part of the page could not be loaded; reload the page."
    )
    expect(page.locator(".summary")).to_contain_text("attends most to")


def test_a_message_of_another_version_leaves_a_sentence_in_place(open_page: Open) -> None:
    def make_older(page: Page) -> None:
        page.route(HEATMAP, serve_older)

    def serve_older(route: object) -> None:
        answer = route.fetch()
        route.fulfill(response=answer, body=answer.text().replace('"heatmap", 1', '"heatmap", 0'))

    page = open_page(before=make_older)
    expect(page.get_by_role("alert")).to_have_text(
        "This page is from another version of the app; reload it."
    )
    expect(page.locator(".summary")).to_contain_text("attends most to")
