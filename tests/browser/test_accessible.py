"""Every page and chapter by the rules of axe-core: light and dark, on a desktop and a phone."""

from __future__ import annotations

from pathlib import Path

import pytest

from attention.app.pages import PAGES
from attention.lessons.chapters import GUIDE, read_lesson
from tests.browser.browsing import Open, eventually, expect_rest

AXE = Path(__file__).parents[2] / "node_modules/axe-core/axe.min.js"
CHAPTERS = read_lesson(Path(GUIDE), lambda link, page: []).chapters
LINKS = [
    *(f"/{page.name}" for page in PAGES if page.name != "guide"),
    *(f"/guide?chapter={at}&guess=0" for at in range(len(CHAPTERS))),
    "/?model=minilm",
    "/heads?model=minilm",
    "/?map=shown",
]
COLOURS = ["color-contrast"]  # the one rule that another theme can break
FOUND = """async (rules) => (await axe.run(document,
    { resultTypes: ["violations"], runOnly: rules ?? undefined })).violations
  .filter(({ impact }) => ["serious", "critical"].includes(impact))
  .flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) =>
    `${id}: ${target.flat().join(" ")}: ${failureSummary}`))"""


@pytest.mark.parametrize("link", LINKS)
def test_axe_finds_nothing_serious(link: str, open_page: Open) -> None:
    page = open_page(link)
    expect_rest(page)
    page.evaluate(AXE.read_text("utf-8"))
    eventually(page, lambda: page.evaluate(FOUND, None), [])
    page.set_viewport_size({"width": 390, "height": 900})
    eventually(page, lambda: page.evaluate(FOUND, None), [])
    page.emulate_media(color_scheme="dark")
    eventually(page, lambda: page.evaluate(FOUND, COLOURS), [])
