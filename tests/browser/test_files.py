"""The figures a page saves as SVG, and its numbers as CSV."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy
import pandas

from tests.browser.browsing import Open, Page, expect, expect_heatmap, expect_rest, hostile

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


def test_the_figures_of_explore_are_drawn_with_cells_and_words(
    open_page: Open, tmp_path: Path
) -> None:
    page = open_page("/?mask=causal")
    expect_heatmap(page)
    expect(page.locator(".equation")).to_be_visible()
    kinds = ("SVG", "PNG")
    named = [f"{name}, {kind}" for name in ("Lines", "Heatmap", "Sum") for kind in kinds]
    assert offered(page).all_text_contents() == named
    tags, words = drawing(saved(page, "Heatmap, SVG", tmp_path))
    assert {"the (0)", "cat", "walks", "on", "street"} <= set(words)
    assert tags.count("rect") > 21  # the cells that are not masked, and more
    assert "image" not in tags
    assert "pattern" in tags
    assert not {"scores", "scaled"} & set(words)
    tags, words = drawing(saved(page, "Lines, SVG", tmp_path))
    assert "path" in tags
    assert [words.count(f"the ({at})") for at in (0, 4)] == [2, 2]
    tags, words = drawing(saved(page, "Sum, SVG", tmp_path))
    assert "Σ = y" in words


def test_a_picture_is_saved_twice_as_fine_as_the_screen(open_page: Open, tmp_path: Path) -> None:
    page = open_page("/explore")
    expect_heatmap(page)
    offered(page)
    width = page.locator(".attention-picture > .part.lines").bounding_box()["width"]
    head = saved(page, "Lines, PNG", tmp_path).read_bytes()[:24]
    assert head[1:4] == b"PNG"
    assert int.from_bytes(head[16:20], "big") == 2 * math.ceil(width)


def test_hostile_sentences_are_text_in_the_files(open_page: Open, tmp_path: Path) -> None:
    (sentence, *_) = hostile(120)
    page = open_page("/explore")
    page.get_by_label("Sentence", exact=True).fill(sentence)
    expect_heatmap(page)
    expect_rest(page)
    offered(page)
    tags, _ = drawing(saved(page, "Lines, SVG", tmp_path))
    assert not {"script", "img", "a", "style", "foreignObject"} & set(tags)
    written = pandas.read_csv(saved(page, "Weights, CSV", tmp_path), index_col=0)
    assert written.shape[0] == written.shape[1] > 50
    assert all(name[0].isdigit() for name in written.index)


def test_x_and_y_are_files_whose_weighted_sum_is_right(open_page: Open, tmp_path: Path) -> None:
    page = open_page("/?s=a+cat+sat")
    expect_heatmap(page)
    offered(page)
    files = {
        name: pandas.read_csv(saved(page, f"{name}, CSV", tmp_path), index_col=0)
        for name in ("Vectors x", "Weights", "New vectors y")
    }
    x, weights, y = files.values()
    assert list(x.index) == ["0 a", "1 cat", "2 sat"]
    assert x.shape == y.shape == (3, 50)
    assert abs(weights.to_numpy() @ x.to_numpy() - y.to_numpy()).max() < 1e-5


def test_what_is_masked_is_empty_in_the_file_as_it_is_on_the_page(
    open_page: Open, tmp_path: Path
) -> None:
    page = open_page("/?s=a+cat+sat&mask=causal")
    expect_heatmap(page)
    offered(page)
    masked, scaled, weights = (
        pandas.read_csv(saved(page, f"{name}, CSV", tmp_path), index_col=0).to_numpy()
        for name in ("Masked scores", "Scaled scores", "Weights")
    )
    assert (numpy.isnan(masked) == numpy.triu(numpy.ones((3, 3)), 1)).all()
    assert not numpy.isnan(scaled).any()
    powers = numpy.exp(numpy.nan_to_num(masked, nan=-numpy.inf))
    assert abs(powers / powers.sum(1, keepdims=True) - weights).max() < 1e-5
