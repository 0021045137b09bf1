"""Step by step in Chromium: going on and back, choosing, guessing, and matrices of one's own."""

from __future__ import annotations

import math
from typing import Any

import numpy

from tests.browser.browsing import (
    Open,
    Page,
    check_link,
    expect,
    expect_in_search,
    expect_search,
    search,
)


def result(page: Page) -> Any:
    """The matrix that a step gives, the last of its row."""
    return page.locator(".st-key-matrices figure").last.locator("table")


def cell(page: Page, row: int, column: int) -> Any:
    return result(page).locator("tbody tr").nth(row).locator("td").nth(column)


def box(page: Page, label: str) -> Any:
    return page.get_by_label(label, exact=True)


def heading(page: Page) -> Any:
    return page.get_by_role("heading", level=3)


def words(page: Page) -> Any:
    return page.locator(".working > p:not(.total)")


def read(text: str) -> float:
    return float(text.replace("−", "-"))


def numbers(table: Any) -> list[list[float]]:
    """The numbers of a table as they stand on the page; masked cells are −inf."""
    lines = table.locator("tbody tr").all()
    texts = [line.locator("td").all_inner_texts() for line in lines]
    return [[read(text) if text.strip() else -math.inf for text in line] for line in texts]


def matrices_shown(page: Page) -> list[list[list[float]]]:
    expect(words(page)).to_be_visible()
    expect(page.locator(".st-key-matrices figure").last).to_be_visible()
    return [numbers(table) for table in page.locator(".st-key-matrices figure table").all()]


def box_of(page: Page, title: str) -> Any:
    """The box of a step in the graph of operations."""
    return page.locator(".st-key-step_graph").get_by_role("button", name=title)


def expect_lit(page: Page, title: str) -> None:
    """Until the box of that step is the one that is lit."""
    chosen = page.locator(".st-key-step_graph [aria-current=step] .title")
    expect(chosen).to_have_text(title)


def test_boxes_buttons_and_keys_show_their_step_and_no_press_is_lost(open_page: Open) -> None:
    page = open_page("/steps?variant=qkv")
    expect_lit(page, "x")
    box_of(page, "mask 0 hidden").click()
    expect(heading(page)).to_have_text("7. Mask")
    page.keyboard.press("ArrowRight")
    expect(box_of(page, "softmax each row")).to_be_focused()
    page.keyboard.press("Enter")
    expect(heading(page)).to_have_text("8. Softmax")
    page.keyboard.press("Home")
    expect(box_of(page, "step 1, gives")).to_be_focused()
    page.keyboard.press("Enter")
    expect(heading(page)).to_have_text("1. The vectors")
    page.get_by_role("button", name="Next").click()
    expect(heading(page)).to_have_text("2. Queries")
    page.get_by_role("button", name="Back").click()
    expect(heading(page)).to_have_text("1. The vectors")
    expect_lit(page, "x")  # keys go on from the box that is lit
    for _ in range(6):
        page.keyboard.press("n")  # faster than the server answers
    expect(heading(page)).to_have_text("7. Mask")
    expect_lit(page, "mask")
    expect_search(page, {"variant": "qkv", "step": "masked"})
    page.keyboard.press("b")
    page.keyboard.press("b")
    expect(heading(page)).to_have_text("5. Scores")
    page.get_by_label("Sentence", exact=True).press_sequentially("nb")
    expect_in_search(page, "s")
    expect(heading(page)).to_have_text("5. Scores")


def test_a_guess_is_made_before_the_numbers_are_seen(open_page: Open) -> None:
    page = open_page("/steps?step=scores&predict=on&question=greatest")
    expect(result(page).locator("td.cell")).to_have_text(["?"] * 36)
    expect(page.locator(".working")).to_have_count(0)
    cell(page, 0, 1).click()
    verdict = page.locator(".note")
    expect(verdict).to_contain_text("Not “the (0)” and “cat”, it holds ")
    expect(cell(page, 0, 1)).not_to_have_text("?")
    scores = matrices_shown(page)[-1]
    greatest = max(map(max, scores))
    expect(verdict).to_contain_text(f"it holds {scores[0][1]:.4f};")
    expect(verdict).to_contain_text(f"holds {greatest:.4f}.")
    link = {"step": "scores", "predict": "on", "question": "greatest"}
    expect_search(page, link | {"column": "1"})
    page.get_by_role("button", name="Hide and guess again").click()
    expect(cell(page, 0, 1)).to_have_text("?")
    row, column = next(
        (r, c) for r, line in enumerate(scores) for c, n in enumerate(line) if n == greatest
    )
    result(page).focus()
    page.keyboard.press("Home")
    for key in ["ArrowDown"] * row + ["ArrowRight"] * column:
        page.keyboard.press(key)
    expect(cell(page, row, column)).to_have_text("?")
    page.keyboard.press("Enter")
    expect(verdict).to_contain_text("Right: ")


def test_a_number_is_typed_a_mask_is_painted_and_whoever_gets_the_link_answers_first(
    open_page: Open,
) -> None:
    page = open_page("/steps?input=matrices&scale=none&step=queries&predict=on&row=2&column=2")
    expect(cell(page, 2, 2)).to_contain_class("asked")
    box(page, "Your number").fill("3,1")
    box(page, "Your number").press("Enter")
    right = "Right: “q2” and dimension 2 holds 3, and 3.1000 is within ±0.1500."
    expect(page.locator(".note")).to_have_text(right)
    other = open_page(page.evaluate("location.pathname + location.search"), beside=page)
    expect(other.locator(".note")).to_contain_text("What number is in the cell of ")
    expect(result(other).locator("td.cell").first).to_have_text("?")

    page = open_page("/steps?s=a+b&mask=causal&step=masked&predict=on")
    page.locator(".st-key-marked_cells [data-query='0'][data-key='1']").click()
    marked = page.locator(".st-key-marked_cells [aria-pressed=true]")
    expect(marked).to_have_count(1)
    page.get_by_role("button", name="Check").click()
    expect(page.locator(".note")).to_have_text("Right: 1 cell is hidden.")
    page.get_by_role("button", name="Hide and guess again").click()
    expect(marked).to_have_count(0)


def test_own_matrices_are_edited_and_all_that_follows_changes_with_the_link(
    open_page: Open,
) -> None:
    page = open_page("/steps?input=matrices&step=scores&row=1&column=2&scale=none")
    for seen in (box(page, "X, row 0, column 0"), box(page, "Mask, row 2, column 2")):
        expect(seen).to_be_in_viewport(ratio=1)
    expect(result(page)).to_be_in_viewport(ratio=1)
    queries, keys, scores = (numpy.array(matrix) for matrix in matrices_shown(page))
    assert scores.tolist() == (queries @ keys.T).tolist() == [[2, 4, 4], [4, 16, 12], [4, 12, 10]]
    query, key, product = numpy.array(numbers(page.locator(".working table"))).T
    assert (query.tolist(), key.tolist()) == (queries[1].tolist(), keys[2].tolist())
    assert product.tolist() == (query * key).tolist()

    box(page, "X, row 0, column 0").fill("1,5")
    box(page, "X, row 0, column 0").press("Enter")
    box_of(page, "W_q queries").click()
    expect(cell(page, 0, 0)).to_have_text("1.5000")
    expect_in_search(page, "own_x", "1.5 0 1 0; 0 2 0 2; 1 1 1 1")
    assert matrices_shown(page)[-1] == [[1.5, 0, 2.5], [2, 2, 2], [2, 1, 3]]

    page.get_by_role("button", name="+ row of X", exact=True).click()
    expect(box(page, "Mask, row 3, column 3")).to_have_value("1")
    expect(result(page).locator("tbody tr")).to_have_count(4)
    expect_in_search(page, "own_mask", "; ".join(["1 1 1 1"] * 4))
    undo = page.get_by_role("button", name="Undo")
    undo.click()
    expect(undo).to_be_hidden()
    expect(box(page, "X, row 0, column 0")).to_have_value("1")
    expect(cell(page, 0, 0)).to_have_text("1")
    expect_in_search(page, "own_x", "1 0 1 0; 0 2 0 2; 1 1 1 1; 0 0 0 0")
    check_link(page, open_page)


def test_text_in_a_cell_is_marked_and_the_rest_lives(open_page: Open) -> None:
    page = open_page("/steps?input=matrices&step=scores&scale=none")
    wrong = box(page, "W_q, row 1, column 2")
    wrong.fill("<b>cat</b>")
    wrong.press("Tab")
    problem = "W_q: row 1, column 2 holds '<b>cat</b>', which is no number"
    expect(page.get_by_role("status").get_by_text(problem)).to_be_visible()
    marked = page.locator("input[aria-invalid='true']")
    expect(marked).to_have_count(1)
    expect(marked).to_have_attribute("aria-label", "W_q, row 1, column 2")
    expect(page.get_by_text("The steps follow as soon as every matrix fits.")).to_be_visible()
    expect(page.locator(".st-key-matrices figure")).to_have_count(0)

    other = box(page, "X, row 0, column 0")
    other.fill("3")
    other.press("Tab")
    expect_in_search(page, "own_x")
    expect(other).to_have_value("3")
    wrong.fill("2")
    wrong.press("Enter")
    expect(heading(page)).to_have_text("5. Scores")
    expect(marked).to_have_count(0)
    expect_in_search(page, "own_W_q", "1 0 1; 1 0 2; 0 0 1; 0 1 1")
    assert search(page)["own_x"].startswith("3 0 1 0;")
