"""The figures a page saves as SVG, and its numbers as CSV."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy
import pandas

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


def test_what_is_masked_is_empty_in_the_files_and_the_sum_of_their_numbers_is_right(
    open_page, tmp_path
):
    page = open_page("/?fold=numbers&s=a+cat+sat&mask=causal")
    expect_rest(page)
    page.get_by_role("button", name="Download", exact=True).click()
    names = ("Masked scores", "Scaled scores", "Weights", "Vectors x", "New vectors y")
    masked, scaled, weights, x, y = (
        pandas.read_csv(saved(page, f"{name}, CSV", tmp_path), index_col=0).to_numpy()
        for name in names
    )
    assert x.shape == y.shape == (3, 50)
    assert abs(weights @ x - y).max() < 1e-5
    assert (numpy.isnan(masked) == numpy.triu(numpy.ones((3, 3)), 1)).all()
    assert not numpy.isnan(scaled).any()
    powers = numpy.exp(numpy.nan_to_num(masked, nan=-numpy.inf))
    assert abs(powers / powers.sum(1, keepdims=True) - weights).max() < 1e-5
