"""Operations in Chromium: choosing, editing, links."""

from __future__ import annotations

from tests.browser.browsing import (
    Open,
    expect,
    expect_rest,
    expect_search,
)


def test_choosing_a_cell_lights_what_meets_and_explains_it(open_page: Open) -> None:
    page = open_page("/operations")
    picture = page.locator(".st-key-picture_1")
    picture.get_by_role("grid").locator(".cell").last.click()
    expect(page.get_by_text("C[1] in row 1, column 1")).to_be_visible()
    expect(page.locator(".working tfoot td").last).to_have_text("6")
    lit = ["2", "2", "0", "1", "2", "1", "6"]
    expect(picture.locator(".lit")).to_have_text(lit)
    expect(page.locator(".st-key-picture_0 .lit")).to_have_count(0)
    expect_search(page, {"operation_batch": "1", "operation_column": "1"})
    picture.get_by_role("grid").press("ArrowLeft")
    expect(page.get_by_text("C[1] in row 1, column 0")).to_be_visible()
    expect_search(page, {"operation_batch": "1"})


def test_an_edited_cell_reaches_the_answer_and_the_link_and_a_wrong_one_is_named(
    open_page: Open,
) -> None:
    page = open_page("/operations")
    box = page.locator(".st-key-grid_bmm_a_0").get_by_label("A[0], row 1, column 2")
    total = page.locator(".working tfoot td").last
    box.fill("10")
    box.press("Enter")
    expect(total).to_have_text("24")
    expect_search(page, {"bmm_a": "1 2 3; 4 5 10 | 1 0 -1; 2 2 0"})
    box.fill("<b>x")
    box.press("Enter")
    words = "A[0]: row 1, column 2 holds '<b>x', which is no number"
    expect(page.get_by_text(words)).to_be_visible()
    expect(box).to_have_attribute("aria-invalid", "true")
    box.fill("")
    box.press("Enter")
    expect(page.get_by_text("A[0]: row 1, column 2 is empty")).to_be_visible()
    box.fill("6")
    box.press("Enter")
    expect(total).to_have_text("16")


def test_the_answer_to_an_edit_leaves_the_cell_that_is_typed_into_as_it_is(open_page: Open) -> None:
    page = open_page("/operations")
    grid = page.locator(".st-key-grid_bmm_a_0")
    grid.get_by_label("A[0], row 1, column 2").fill("10")
    grid.get_by_label("A[0], row 1, column 2").press("Enter")
    other = grid.get_by_label("A[0], row 0, column 0")
    other.fill("7")
    expect(page.locator(".working tfoot td").last).to_have_text("24")
    expect_rest(page)
    expect(other).to_have_value("7")
    other.press("Enter")
    expect_search(page, {"bmm_a": "7 2 3; 4 5 10 | 1 0 -1; 2 2 0"})
