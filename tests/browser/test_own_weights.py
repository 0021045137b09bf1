"""Own run in Chromium: a file opened, and its heads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy

from tests.browser.browsing import Page, expect, expect_heatmap

LAYERS, HEADS, QUERIES, KEYS = 2, 3, 5, 7


def saved(folder: Path, name: str = "weights.npz", **parts: Any) -> Path:
    path = folder / name
    numpy.savez(path, **parts)
    return path


def weights_where(chosen: int) -> Any:
    """Every query attends evenly, but in the last head of all, where it attends to one key."""
    weights = numpy.full((LAYERS, HEADS, QUERIES, KEYS), 1 / KEYS, dtype=numpy.float32)
    weights[-1, -1] = numpy.eye(KEYS, dtype=numpy.float32)[chosen]
    return weights


def open_file(page: Page, file: Path) -> None:
    page.get_by_test_id("stFileUploaderDropzoneInput").set_input_files(file)


def labels(page: Page, axis: str) -> Any:
    return page.locator(f".attention-heatmap .{axis}tick")


def numbers(page: Page) -> Any:
    """Numbers written in the cells of the heatmap."""
    return page.locator(".attention-written span:not(:empty)")


def test_every_head_of_an_opened_file_can_be_chosen(open_page, tmp_path):
    asking, asked = list("abcde"), list("tuvwxyz")
    weights = weights_where(3)
    parts = {"tokens": json.dumps(asking), "keys": json.dumps(asked)}
    page = open_page("/own")
    open_file(page, saved(tmp_path, weights=weights, **parts))
    expect_heatmap(page)
    expect(labels(page, "y")).to_have_text(asking)
    expect(labels(page, "x")).to_have_text(asked)
    expect(page.get_by_text("Layer 0, head 0.")).to_be_visible()
    expect(numbers(page)).to_have_text(["0.14"] * QUERIES * KEYS)
    page.get_by_role("radio", name="layer 1, head 2", exact=True).click()
    expect(page.get_by_text("Layer 1, head 2.")).to_be_visible()
    expect(numbers(page)).to_have_text(["0.00", "0.00", "0.00", "1.00", *["0.00"] * 3] * QUERIES)
