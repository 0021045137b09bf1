"""Rows of numbers under a sentence, in a file without a network."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import torch

import attention
from attention.figures.picture import AttentionPicture
from attention.figures.scene import Scene
from attention.figures.word_rows import WordRow, WordRows
from attention.subjects.explore import scene as explore
from tests.browser.browsing import Page, eventually, expect
from tests.browser.test_one_file import offline  # noqa: F401, a fixture
from tests.running import viewed

SENTENCE = "rain fell softly on the old roof"
ALIGNED = """() => {
  const root = document.querySelector(".attention-word_rows-figure")?.shadowRoot
  if (!root) return false
  const edges = (elements) => [...elements].map((each) => each.getBoundingClientRect())
  const words = edges(document.querySelectorAll(".word"))
  const cells = edges(root.querySelectorAll(".row:nth-child(2) .cell"))
  if (!words.length || words.length !== cells.length) return false
  const apart = words.map(({ left, width }, at) =>
    Math.max(Math.abs(left - cells[at].left), Math.abs(width - cells[at].width)))
  return Math.max(...apart) <= 1
}"""


def scene_of(chosen: int, *marked: int) -> Scene:
    """The sentence with its arcs, and below it its weights and an even row."""
    picture = next(iter(explore.arcs(viewed("explore", s=SENTENCE))))
    assert isinstance(picture, AttentionPicture)
    count = len(picture.shown.tokens)
    rows = (
        WordRow("weights", picture.shown.trace.weights, "share"),
        WordRow("even", torch.full((1, count), 1 / count), "share"),
    )
    below = WordRows(picture.shown.tokens, rows, "rows", chosen, marked, key="rows", marks=True)
    return Scene([replace(picture, margins=True), below])


def test_numbers_stand_under_their_words_and_keys_lead_through_the_rows(
    offline: Callable[[Path], Page],  # noqa: F811
    tmp_path: Path,
) -> None:
    answers = {("rows", "row", 1): scene_of(1), ("rows", "marked", (1,)): scene_of(1, 1)}
    attention.save_scene(scene_of(0), tmp_path / "rows.html", query=2, answers=answers)
    page = offline(tmp_path / "rows.html")
    page.set_viewport_size({"width": 1280, "height": 900})
    cells, words = page.locator(".cell"), page.locator(".word")
    for width in (1280, 1000, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        eventually(page, lambda: page.evaluate(ALIGNED), True)
    words.nth(4).click()
    expect(words.nth(4)).to_have_attribute("aria-selected", "true")
    assert page.evaluate(ALIGNED)
    cells.nth(3).hover()
    expect(words.nth(3)).to_have_class("word pointed")

    page.get_by_role("rowheader", name="weights").focus()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("rowheader", name="even")).to_be_focused()
    expect(page.get_by_role("row", name="even")).to_have_attribute("aria-selected", "true")
    threads = page.locator(".stage g g path")
    expect(threads).to_have_count(0)
    page.keyboard.press("Shift+Enter")
    expect(threads).to_have_count(7)

    page.set_viewport_size({"width": 390, "height": 900})
    eventually(page, lambda: _edge(cells.nth(0), "x"), lambda: _edge(cells.nth(6), "x"))
    assert _edge(cells.nth(0), "y") < _edge(cells.nth(6), "y")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def _edge(cell: Page, name: str) -> float:
    return float(cell.bounding_box()[name])
