"""The map of Play in Chromium: settings, masked cells, zoom, and the files one takes along."""

from __future__ import annotations

import io
from typing import Any
from urllib.parse import urlencode

import numpy
from PIL import Image

from attention.core.printing import distinct_names
from tests.browser.browsing import (
    Page,
    choice,
    eventually,
    expect,
    expect_heatmap,
    expect_rest,
    expect_search,
)

CELLS = ".attention-cells[data-version]"
PLOTLYS = ".hm image"


def cells(page: Page) -> Any:
    return page.locator(CELLS)


def version(page: Page) -> int:
    """Number of times the heatmap's cells have been painted."""
    return int(cells(page).get_attribute("data-version"))


def test_masked_cells_are_hidden_by_strokes_and_keys_but_not_by_a_touch_that_scrolls(open_page):
    page = open_page("/?mask=cells&s=the+cat+walks+on+the+street")
    expect_heatmap(page)
    page.get_by_role("button", name="More", exact=True).click()
    hidden = page.locator("[data-query][aria-pressed=true]")

    def cell_at(query: int, key: int) -> Any:
        return page.locator(f"[data-query='{query}'][data-key='{key}']")

    cell_at(1, 2).hover()
    page.mouse.down()
    cell_at(2, 2).hover()
    cell_at(3, 2).hover()
    page.mouse.up()
    expect_search(page, {"mask": "cells", "cells": "1:2 2:2 3:2"})
    cell_at(0, 1).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    expect_search(page, {"mask": "cells", "cells": "0:2 1:2 2:2 3:2"})
    expect(hidden).to_have_count(4)
    expect_rest(page)
    first = cell_at(0, 1)
    first.dispatch_event("pointerdown", {"button": 0, "buttons": 1})
    expect(hidden).to_have_count(5)
    first.dispatch_event("pointercancel", {})
    expect(hidden).to_have_count(4)
    first.click(button="right")
    expect(hidden).to_have_count(4)
    first.dispatch_event("pointerdown", {"button": 0, "buttons": 1})
    cell_at(5, 5).hover()  # with the button up
    expect_search(page, {"mask": "cells", "cells": "0:1-2 1:2 2:2 3:2"})
    expect(hidden).to_have_count(5)


def test_pointing_at_the_heatmap_while_its_labels_are_on_their_way_loses_none(open_page):
    held: list[Any] = []

    def hold(route: Any) -> None:
        held.append(route)

    link = "/?" + urlencode({"s": many_words(16)})
    page = open_page(link, before=lambda page: page.route("**/plotly.min.js", hold))
    heatmap = page.locator(".attention-heatmap")
    heatmap.hover()
    cells(page).wait_for(state="attached")
    heatmap.hover(position={"x": 90, "y": 60})
    eventually(page, lambda: len(held), 1)
    assert heatmap.locator(".xtick").count() == 0
    for mask in ("causal", "window", "length"):  # draws that wait for plotly.js
        painted = version(page)
        choice(page, "mask", mask).click()
        expect(cells(page)).not_to_have_attribute("data-version", str(painted))
    held[0].continue_()
    expect(heatmap.locator(".xtick")).to_have_text(distinct_names(many_words(16).split()))
    check_cells(page)


def test_a_long_sentence_can_be_zoomed_into_and_seen_whole_again(open_page):
    page = open_page("/?" + urlencode({"s": many_words(64)}))
    check_cells(page)
    plotly = page.locator(PLOTLYS)
    expect(cells(page)).to_be_visible()
    expect(plotly).not_to_be_visible()
    expect_rest(page)
    box = cells(page).bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.25, box["y"] + box["height"] * 0.25)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + box["height"] * 0.5, steps=5)
    page.mouse.up()
    expect(plotly).to_be_visible()
    expect(cells(page)).not_to_be_visible()

    def seen_whole() -> bool:  # two clicks are one double click within 300 ms alone
        page.mouse.dblclick(box["x"] + box["width"] * 0.5, box["y"] + box["height"] * 0.5)
        return bool(cells(page).is_visible())

    eventually(page, seen_whole, True)
    expect(plotly).not_to_be_visible()


def check_cells(page: Page) -> None:
    """The cells painted after a change are those that plotly draws to zoom into."""
    plotly = page.locator(PLOTLYS)
    plotly.wait_for(state="attached")
    page.locator(".attention-heatmap .xtick").last.wait_for()
    painted, drawn = version(page), plotly.get_attribute("xlink:href")
    choice(page, "mask", "causal").click()
    expect(cells(page)).not_to_have_attribute("data-version", str(painted))
    page.mouse.move(5, 5)
    expect_rest(page)  # till then the page may move below what comes above it
    box = cells(page).bounding_box()
    ours = pixels(page, box)
    assert numpy.ptp(ours) > 100
    plotly.dispatch_event("pointermove", {"bubbles": True})
    expect(plotly).not_to_have_attribute("xlink:href", drawn)
    page.locator(".attention-frame").evaluate("frame => frame.classList.add('zoomed')")
    eventually(page, lambda: numpy.abs(pixels(page, box) - ours).mean() < 2.0, True)
    page.locator(".attention-frame").evaluate("frame => frame.classList.remove('zoomed')")


def many_words(count: int) -> str:
    """16 or 64 different words."""
    return " ".join(f"{one} {two}" for one in "abcdefgh" for two in "ijkl"[: count // 16])


def pixels(page: Page, box: Any) -> Any:
    picture = Image.open(io.BytesIO(page.screenshot(clip=box)))
    return numpy.asarray(picture.convert("RGB"), dtype=numpy.float64)
