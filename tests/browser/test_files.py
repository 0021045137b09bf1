"""The figures a page saves as SVG, and its numbers as CSV."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy
import pandas

from tests.browser.browsing import Page, expect

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


def test_the_link_and_the_files_one_takes_along_hold_what_is_on_the_page(
    open_page, offline, tmp_path
):
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
    alone = offline(saved(page, "Heatmaps and weighted sum, HTML", tmp_path))
    expect(alone.locator(".js-plotly-plot .hm image")).to_have_count(1)
    expect(alone.locator(".terms tbody tr")).to_have_count(6)
    expect(alone.locator(".queries .token").nth(2)).to_have_attribute("aria-selected", "true")
