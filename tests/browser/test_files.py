"""The figures a page saves as SVG, and its numbers as CSV."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy
import pandas
import pytest

from tests.browser.browsing import Page, expect, expect_rest

NAMES = "{http://www.w3.org/2000/svg}"


def saved(page: Page, label: str, folder: Path) -> Path:
    """A file of the menu, saved."""
    button = page.get_by_test_id("stPopoverBody").get_by_role("button", name=label, exact=True)
    with page.expect_download() as download:
        button.click()
    file = folder / download.value.suggested_filename
    download.value.save_as(file)
    return file


def offered(page: Page) -> Any:
    """Opens the menu of files; gives the buttons of the figures."""
    page.get_by_role("button", name="Download", exact=True).click()
    figures = page.locator(".st-key-save_figures button")
    expect(figures.first).to_be_visible()
    return figures


def drawing(file: Path) -> tuple[list[str], list[str]]:
    """The tags in an SVG file, and its words."""
    root = ElementTree.parse(file).getroot()
    tags = [each.tag.removeprefix(NAMES) for each in root.iter()]
    words = ["".join(each.itertext()) for each in root.iter(f"{NAMES}text")]
    return tags, words


def test_the_link_and_the_files_one_takes_along_hold_what_is_on_the_page(open_page, tmp_path):
    page = open_page(
        "/?fold=numbers&variant=qkv&mask=causal&query=2&vectors=random&d_model=7",
        permissions=["clipboard-read", "clipboard-write"],
    )
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == page.evaluate("location.href")

    page.get_by_role("button", name="Download").click()
    masked = pandas.read_csv(saved(page, "Masked scores, CSV", tmp_path), index_col=0)
    assert (masked.isna() == numpy.triu(numpy.ones((6, 6)), 1)).all(axis=None)
    page.get_by_role("button", name="Copy as Python").click()
    expect(page.get_by_role("button", name="Copied the program")).to_be_visible()
    assert "compute(Settings(" in page.evaluate("navigator.clipboard.readText()")


# Controls of a file that work in it alone.
LENSES = ["where it looks", "passports", "what is lost without it", "what it says itself"]
MENUS = {
    "/?query=2": ("play-map", []),
    "/?fold=how&query=2": ("play-how", []),
    "/?fold=all+heads&variant=multihead&query=2": ("play-all-heads", []),
    "/?fold=all+heads&words=all+words&variant=multihead&query=2": ("play-all-heads", []),
    "/?fold=against&differs=scale&query=2": ("play-against", []),
    "/?fold=numbers&query=2": ("play-numbers", []),
    "/model?model=constructed&query=2": ("a-real-model-lost", LENSES),
}
KINDS = ["HTML", "PNG", "SVG", "CSV", "PyTorch script", "Copy as Python"]
LABELS = """menu => [...menu.querySelectorAll("button, [class*=st-key-] *")]
  .flatMap(each => [each, ...(each.shadowRoot?.querySelectorAll("button") ?? [])])
  .filter(each => each.matches("button"))
  .sort((one, other) => one.getBoundingClientRect().top - other.getBoundingClientRect().top)
  .map(each => each.textContent)"""
CONTROLS = "button:enabled:visible:not(.tiles *), input:visible, select:visible, a:visible"


@pytest.mark.parametrize("link", MENUS)
def test_each_menu_is_alike_and_its_file_has_no_control_that_needs_a_server(
    open_page, offline, tmp_path, link
):
    begins, works = MENUS[link]
    page = open_page(link)
    expect_rest(page)
    offered(page)
    labels = page.get_by_test_id("stPopoverBody").evaluate(LABELS)
    kinds = [KINDS.index(label.rpartition(", ")[2]) for label in labels]
    assert kinds == sorted(kinds)
    assert {*kinds} >= {0, 1, 2, 3, 5}
    file = saved(page, "All figures, HTML", tmp_path)
    assert file.name == f"{begins}-all-figures.html"
    alone = offline(file)
    expect(alone.locator("[aria-selected=true], .word.asks").first).to_be_visible()
    assert alone.locator(CONTROLS).all_text_contents() == works
