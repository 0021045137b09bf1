"""Each view is opened once, and looked at in light and dark, at every width, in files, on paper.

By the rules of axe-core it is accessible; nothing is cut or covered, and its title stands where
those of others do; its figures are saved; and on paper all of it stands, dark on white, without
what only a screen can use.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from attention.app.state.pages import PAGES, first_page, page_named
from tests.browser.browsing import (
    Open,
    Page,
    eventually,
    expect,
    expect_heatmap,
    expect_rest,
    expect_to_fit,
)
from tests.browser.test_files import NAMES, drawing, offered, saved
from tests.browser.test_fits import FAULTS
from tests.browser.test_paper import DARK_ON_WHITE, HALF_GONE, ON_SCREEN_ALONE, ZOOM, paper, sheets
from tests.browser.test_sharing import more

LONG = "s=the+cat+walks+on+the+street+and+on+the+bank+of+the+river"
# The views of a page that has others than its bare one, each with its figures: a file of each, with
# words that are in it.
VIEWS: dict[str, dict[str, dict[str, Sequence[str]]]] = {
    "guide": {"chapter=scores&guess=0": {"Figure, SVG": ["kitchen"]}},
    "explore": {
        LONG: {},
        "fold=how&s=the+cat+walks+on+the+street": {"Rows, SVG": ["softmax", "walks"]},
        "fold=how&words=all+words&step=scores": {"Matrices, SVG": ["Q", "K", "scores", "cat"]},
        "input=matrices": {},
        "fold=all+heads&model=minilm&active=1": {"Rows, SVG": ["0.1", "street"]},
        "fold=all+heads&model=minilm&words=all+words": {"Heads, SVG": ["0", "1", "4"]},
        "fold=against&differs=scale&b_factor=2": {"Rows, SVG": ["difference"]},
        "fold=against&words=all+words&s2=the+cat+sleeps": {"Comparison, SVG": ["B − A", "cat"]},
        "fold=numbers&map=shown&model=minilm": {},
    },
    "model": {
        "model=minilm": {},
        "model=minilm&more=associations": {"Association, SVG": ["cat", "walks", "street"]},
    },
    "cross": {"": {}, "cross=batch": {"Matrices, SVG": ["weights", "output"]}},
    "operations": {"": {"Matrices, SVG": ["A[0]", "C[1]", "16"]}},
    "identities": {"claim=scale": {"Matrices, SVG": ["x₀"]}},
}
EVERY_VIEW = [(page, link) for page in PAGES for link in VIEWS.get(page.name, {"": {}})]

DESKTOP, PHONE = 1440, 390
WIDTHS = (DESKTOP, 768, PHONE)
TOP = """() => [".page-title", ".st-key-copy_link"].map((selector) => {
  const { top, left, right } = document.querySelector(selector).getBoundingClientRect()
  const main = document.querySelector("[data-testid=stMain]").getBoundingClientRect()
  return selector === ".page-title" ? [top, left - main.left] : [top, right]
})"""
OUT_OF_SIGHT = """() => [...document.querySelectorAll("[data-testid=stMain] [role=radiogroup]")]
  .map((row) => row.scrollWidth > row.clientWidth + 1 && row.innerText).filter(Boolean)"""
TOPS: dict[int, object] = {}
ON_TWO_SHEETS = {"fold=how&words=all+words&step=scores", "cross=batch"}
ON_TWO_SHEETS |= {"model=minilm&more=associations"}
PAINTED = "all => all.map((one) => `${one.width}x${one.height} ${one.toDataURL()}`)"
DARK_GROUND = "rgb(16, 22, 29)"
AXE = Path(__file__).parents[2] / "node_modules/axe-core/axe.min.js"
COLOURS = ["color-contrast"]  # the one rule that another theme can break
FOUND = """async (rules) => (await axe.run(document,
    { resultTypes: ["violations"], runOnly: rules ?? undefined })).violations
  .filter(({ impact }) => ["serious", "critical"].includes(impact))
  .flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) =>
    `${id}: ${target.flat().join(" ")}: ${failureSummary}`))"""


@pytest.mark.parametrize(("declared", "link"), EVERY_VIEW)
def test_a_view_saves_its_figures_is_accessible_fits_every_width_and_paper(
    declared, link, open_page, tmp_path
):
    page = open_page(f"/{declared.name}?{link}", color_scheme="dark")
    expect_rest(page)
    if declared not in (first_page(), page_named("model")):
        expect(page.get_by_role("heading", level=1)).to_have_text(declared.title)
    check_files(page, VIEWS.get(declared.name, {}).get(link, {}), tmp_path)
    check_with_axe(page)
    check_widths(page, {} if declared is first_page() else tops_of_cross(open_page))
    check_paper(page)
    assert sheets(page) <= (2 if link in ON_TWO_SHEETS else 1)


def tops_of_cross(open_page: Open) -> Mapping[int, object]:
    """Where title and share stand on Two sequences, by width; looked at once for all views."""
    if not TOPS:
        page = open_page("/cross?cross=sentences")
        expect_heatmap(page)
        for width in WIDTHS:
            resize(page, width)
            expect_to_fit(page)
            TOPS[width] = page.evaluate(TOP)
        page.close()
    return TOPS


def resize(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})


def check_files(page: Page, figures: Mapping[str, Sequence[str]], folder: Path) -> None:
    """The figures are saved as they are shown, in the dark theme."""
    if not figures:
        return
    for words in figures.values():
        expect(page.get_by_text(words[-1], exact=True).first).to_be_attached()
    expect_rest(page)
    buttons = offered(page)
    for figure, words in figures.items():
        file = saved(page, figure, folder)
        tags, seen = drawing(file)
        assert {"rect", "text"} <= set(tags)
        assert not [word for word in words if word not in seen]
        ground = ElementTree.parse(file).find(f"{NAMES}rect")
        assert ground.get("fill") == DARK_GROUND
    page.keyboard.press("Escape")
    expect(buttons).to_have_count(0)


def check_with_axe(page: Page) -> None:
    """axe-core finds nothing serious, in the light on a desktop, and no colours in the dark."""

    def finds_nothing(rules: list[str] | None = None) -> None:
        eventually(page, lambda: page.evaluate(FOUND, rules), [])

    page.evaluate(AXE.read_text("utf-8"))
    resize(page, PHONE)
    finds_nothing(COLOURS)
    resize(page, DESKTOP)
    page.emulate_media(color_scheme="light")
    finds_nothing()


def check_widths(page: Page, tops: Mapping[int, object]) -> None:
    """Nothing is cut or covered at any width, and title and share stand where those of others do.

    tops: where these are, by width; none for Play, whose title is a question below its sentence.
    """
    expect(more(page)).to_be_visible()
    for width in WIDTHS:
        resize(page, width)
        expect_to_fit(page)
        eventually(page, lambda: [*page.evaluate(FAULTS), *page.evaluate(OUT_OF_SIGHT)], [])
        if width in tops:
            eventually(page, lambda: page.evaluate(TOP), tops[width])


def check_paper(page: Page) -> None:
    """Figures follow the theme, but on paper all is dark on white: nothing is cut, and nothing
    stands there that a screen alone can use."""
    resize(page, DESKTOP)
    expect_rest(page)
    seen = "canvas, table, pre, textarea, article, .word, .lines .token, .st-key-card figure"
    shown: Any = page.locator(seen).locator("visible=true")
    expect(shown.first).to_be_attached()
    eventually(page, lambda: painted(page) == painted_later(page), True)
    light = painted(page)
    page.emulate_media(color_scheme="dark")
    eventually(page, lambda: bool({*light} & {*painted(page)}), False)
    page.wait_for_function(ZOOM)
    paper(page)
    eventually(page, lambda: page.evaluate(HALF_GONE), [])
    expect(page.locator(ON_SCREEN_ALONE).locator("visible=true")).to_have_count(0)
    expect(page.locator(".on-paper:empty, .on-paper:visible")).to_have_count(1)
    expect(page.locator(".address")).not_to_be_empty()
    eventually(page, lambda: page.evaluate(DARK_ON_WHITE), [True, 3 * 255])
    eventually(page, lambda: painted_as(page, light), True)


def painted_as(page: Page, before: list[str]) -> bool:
    """True if each picture that is as large as it was looks as it did."""
    both = zip(painted(page), before, strict=True)
    return all(now == then for now, then in both if now.split()[0] == then.split()[0])


def painted_later(page: Page) -> list[str]:
    """The pictures that are seen a moment later: some are painted after others."""
    page.wait_for_timeout(200)
    return painted(page)


def painted(page: Page) -> list[str]:
    """The pictures that are seen, each after its size."""
    canvases = page.locator("canvas[data-version]").locator("visible=true")
    found: list[str] = canvases.evaluate_all(PAINTED)
    return found
