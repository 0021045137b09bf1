"""Matrices of one's own in Chromium."""

from __future__ import annotations

from typing import Any

from tests.browser.browsing import Page, check_link, expect, expect_in_search
from tests.browser.test_play import link


def matrices(page: Page) -> Any:
    return page.locator(".st-key-step_matrices figure")


def cell(page: Page, row: int, column: int) -> Any:
    """A cell of the matrix that a step gives, the last of its row."""
    return matrices(page).last.locator("tbody tr").nth(row).locator("td").nth(column)


def box(page: Page, label: str) -> Any:
    return page.get_by_label(label, exact=True)


def test_own_matrices_are_edited_text_is_marked_and_all_that_follows_changes_with_the_link(
    open_page,
):
    page = open_page(link(input="matrices", step="queries", query=1, column=2, scale="none"))
    box(page, "X, row 0, column 0").fill("1,5")
    box(page, "X, row 0, column 0").press("Enter")
    expect(cell(page, 0, 0)).to_have_text("1.5000")
    expect_in_search(page, "own_x", "1.5 0 1 0; 0 2 0 2; 1 1 1 1")
    page.get_by_role("button", name="+ row of X", exact=True).click()
    expect(box(page, "Mask, row 3, column 3")).to_have_value("1")
    expect_in_search(page, "own_mask", "; ".join(["1 1 1 1"] * 4))
    page.get_by_role("button", name="Undo").click()
    expect(cell(page, 0, 0)).to_have_text("1")
    expect_in_search(page, "own_x", "1 0 1 0; 0 2 0 2; 1 1 1 1; 0 0 0 0")
    wrong, marked = box(page, "W_q, row 1, column 2"), page.locator("input[aria-invalid='true']")
    wrong.fill("<b>cat</b>")
    wrong.press("Tab")
    problem = "W_q: row 1, column 2 holds '<b>cat</b>', which is no number"
    expect(page.get_by_role("status").get_by_text(problem)).to_be_visible()
    expect(marked).to_have_count(1)
    wrong.fill("2")
    wrong.press("Enter")
    expect(marked).to_have_count(0)
    expect_in_search(page, "own_W_q", "1 0 1; 1 0 2; 0 0 1; 0 1 1")
    check_link(page, open_page)
