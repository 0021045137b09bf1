"""Matrices of one's own in Chromium, and what is worked out from them."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy

from tests.browser.browsing import Page, check_link, choice, expect, expect_in_search, search
from tests.browser.test_play import link


def matrices(page: Page) -> Any:
    return page.locator(".st-key-step_matrices figure")


def cell(page: Page, row: int, column: int) -> Any:
    """A cell of the matrix that a step gives, the last of its row."""
    return matrices(page).last.locator("tbody tr").nth(row).locator("td").nth(column)


def box(page: Page, label: str) -> Any:
    return page.get_by_label(label, exact=True)


def read(text: str) -> float:
    """A number as a cell has it; one without text is masked."""
    return float(text.replace("−", "-")) if text.strip() else -math.inf


def numbers(page: Page) -> list[list[list[float]]]:
    """The numbers of all matrices as they stand on the page; masked cells are −inf."""
    expect(page.locator(".working")).to_be_visible()
    return [
        [
            [read(text) for text in line.locator("td").all_inner_texts()]
            for line in table.locator("tbody tr").all()
        ]
        for table in matrices(page).locator("table").all()
    ]


def test_own_matrices_are_edited_and_all_that_follows_changes_with_the_link(open_page):
    page = open_page(link(input="matrices", step="scores", query=1, column=2, scale="none"))
    queries, keys, scores = (numpy.array(matrix) for matrix in numbers(page))
    assert scores.tolist() == (queries @ keys.T).tolist() == [[2, 4, 4], [4, 16, 12], [4, 12, 10]]

    box(page, "X, row 0, column 0").fill("1,5")
    box(page, "X, row 0, column 0").press("Enter")
    choice(page, "step", "queries").click()
    expect(cell(page, 0, 0)).to_have_text("1.5000")
    expect_in_search(page, "own_x", "1.5 0 1 0; 0 2 0 2; 1 1 1 1")
    assert numbers(page)[-1] == [[1.5, 0, 2.5], [2, 2, 2], [2, 1, 3]]

    page.get_by_role("button", name="+ row of X", exact=True).click()
    expect(box(page, "Mask, row 3, column 3")).to_have_value("1")
    expect_in_search(page, "own_mask", "; ".join(["1 1 1 1"] * 4))
    page.get_by_role("button", name="Undo").click()
    expect(cell(page, 0, 0)).to_have_text("1")
    expect_in_search(page, "own_x", "1 0 1 0; 0 2 0 2; 1 1 1 1; 0 0 0 0")
    check_link(page, open_page)


def test_text_in_a_cell_is_marked_and_the_rest_lives(open_page):
    page = open_page(link(input="matrices", step="scores", scale="none"))
    wrong, other = box(page, "W_q, row 1, column 2"), box(page, "X, row 0, column 0")
    wrong.fill("<b>cat</b>")
    wrong.press("Tab")
    problem = "W_q: row 1, column 2 holds '<b>cat</b>', which is no number"
    expect(page.get_by_role("status").get_by_text(problem)).to_be_visible()
    expect(page.locator("input[aria-invalid='true']")).to_have_count(1)
    expect(page.get_by_text("The steps follow as soon as every matrix fits.")).to_be_visible()
    expect(matrices(page)).to_have_count(0)
    other.fill("3")
    other.press("Tab")
    expect_in_search(page, "own_x")
    wrong.fill("2")
    wrong.press("Enter")
    expect(page.locator("input[aria-invalid='true']")).to_have_count(0)
    expect(matrices(page).last).to_be_visible()
    expect_in_search(page, "own_W_q", "1 0 1; 1 0 2; 0 0 1; 0 1 1")
    assert search(page)["own_x"].startswith("3 0 1 0;")
    page.get_by_role("button", name="Back to the sentence").click()
    expect(page.locator(".word").first).to_be_visible()


def test_terms_are_folded_at_first_and_have_a_shade_where_they_are_cut(open_page):
    page = open_page(link(fold="how", words="all words"))
    table = page.locator(".working .numbers")
    expect(table).to_be_hidden()
    page.locator(".working summary").click()
    expect(table.locator("tfoot")).to_be_visible()
    assert table.evaluate("table => table.scrollHeight > table.clientHeight")
    expect(table).to_have_css("background-image", re.compile("linear-gradient"))
