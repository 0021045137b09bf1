"""Parts that one has opened on a page stay open, whatever comes and goes above them."""

from __future__ import annotations

import pytest

from tests.browser.browsing import Open, expect, expect_rest, expect_search

MATRICES = "The matrices all of this is made from"
DOES_NOT_FIT = "1 2; 3"


@pytest.mark.parametrize(
    ("path", "query", "title", "name"),
    [
        ("operations", {"operation": "softmax"}, "The same as text", "softmax_x"),
        ("steps", {"input": "matrices"}, "The matrices as text, and a way back", "own_x"),
    ],
)
def test_a_text_that_does_not_fit_yet_stays_in_its_open_box(
    open_page: Open, path: str, query: dict[str, str], title: str, name: str
) -> None:
    (setting, value), *_ = query.items()
    page = open_page(f"/{path}?{setting}={value}")
    page.get_by_text(title).click()
    box = page.locator(f".st-key-{name} input")
    box.fill(DOES_NOT_FIT)
    box.press("Enter")
    expect_search(page, query | {name: DOES_NOT_FIT})
    expect_rest(page)
    expect(box).to_be_visible()
    expect(box).to_be_focused()


def test_what_is_opened_stays_so_as_a_note_on_the_link_goes(open_page: Open) -> None:
    page = open_page("/identities?claim=mistakes&source=sentence&tokens=many")
    note = page.locator(".note", has_text="many")
    expect(note).to_be_visible()
    page.get_by_text(MATRICES).click()
    opened = page.locator(".st-key-matrices_origin figure").first
    expect(opened).to_be_visible()
    page.get_by_label("Sentence", exact=True).fill("an apple")
    expect(note).to_have_count(0)
    expect_rest(page)
    expect(opened).to_be_visible()


def test_the_matrices_stay_open_as_another_mistake_shows_more(open_page: Open) -> None:
    page = open_page("/identities?claim=mistakes")
    page.get_by_text(MATRICES).click()
    opened = page.locator(".st-key-matrices_origin figure").first
    expect(opened).to_be_visible()
    page.get_by_label("Mistake", exact=True).get_by_text("count", exact=True).click()
    expect_search(page, {"claim": "mistakes", "mistake": "count"})
    expect_rest(page)
    expect(opened).to_be_visible()
