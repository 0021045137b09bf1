"""Operations in Chromium: choosing, editing, links."""

from __future__ import annotations

from tests.browser.browsing import Page, expect, expect_rest, expect_search


def test_numbers_are_typed_over_where_they_stand_and_the_answer_and_the_link_follow(open_page):
    page = open_page("/operations")
    total = page.locator(".working tfoot td").last
    page.locator(".st-key-picture_0 .cell", has_text="6").first.click()
    keys = page.keyboard
    keys.type("10")
    keys.press("Enter")
    expect(total).to_have_text("24")
    expect_search(page, {"bmm_a": "1 2 3; 4 5 10 | 1 0 -1; 2 2 0"})
    keys.press("ArrowUp")
    expect(field(page, 0, 2)).to_be_focused()
    keys.press("ArrowLeft")
    expect(field(page, 0, 1)).to_be_focused()
    keys.type("7")
    keys.press("Tab")
    expect(field(page, 0, 2)).to_be_focused()
    expect_search(page, {"bmm_a": "1 7 3; 4 5 10 | 1 0 -1; 2 2 0"})
    keys.press("ArrowDown")
    keys.type("99")
    keys.press("Escape")
    expect(field(page, 1, 2)).to_have_value("10")
    keys.press("Enter")
    expect_rest(page)
    field(page, 1, 2).fill("<b>x")
    keys.press("Enter")
    words = "A[0]: row 1, column 2 holds '<b>x', which is no number. Nothing is changed."
    expect(page.get_by_role("status").get_by_text(words)).to_be_visible()
    expect(field(page, 1, 2)).to_have_value("10")
    expect_search(page, {"bmm_a": "1 7 3; 4 5 10 | 1 0 -1; 2 2 0"})


def test_numbers_are_taken_back_in_turn(open_page):
    page = open_page("/operations")
    undo = page.locator(".st-key-picture_0").get_by_role("button", name="Undo")
    expect(undo).to_be_hidden()
    for column, number in ((0, "8"), (1, "9")):
        field(page, 1, column).fill(number)
        field(page, 1, column).press("Enter")
        expect(page.locator(".working tbody td").nth(3 * column)).to_have_text(number)
    field(page, 1, 1).press("Control+z")
    expect_search(page, {"bmm_a": "1 2 3; 8 5 6 | 1 0 -1; 2 2 0"})
    undo.click()
    expect_search(page, {})
    expect(undo).to_be_hidden()
    expect(page.locator(".working tfoot td").last).to_have_text("16")


def field(page: Page, row: int, column: int) -> Page:
    """The field of a cell of A[0]."""
    return page.get_by_label(f"A[0], row {row}, column {column}", exact=True)
