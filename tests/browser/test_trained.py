"""Trained models in Chromium: the grid of all layers, links, and a translation."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import pytest

from attention.display.captions import distinct_names
from attention.trained import sources
from tests.browser.browsing import (
    Open,
    Page,
    check_link,
    expect,
    expect_heatmap,
    expect_search,
    expect_to_fit,
)
from tests.trained.packaged import packaged

SENTENCE = "the cat walks on the street"


@pytest.fixture(autouse=True)
def _with_models() -> None:
    """The server has the models that are installed here."""
    for name in ("minilm", "en-pt"):
        if name not in sources.names():
            packaged(name)


def tile(page: Page, layer: str, head: int) -> Any:
    return page.get_by_role("radio", name=f"{layer}, head {head}", exact=True)


def caption(page: Page, words: str) -> Any:
    return page.get_by_text(words)


def labels(page: Page, axis: str, picture: str = "picture") -> Any:
    """The words along a heatmap."""
    return page.locator(f".st-key-{picture} .attention-heatmap .{axis}tick")


def test_a_head_of_any_layer_is_chosen_by_click_and_by_arrow_keys(open_page: Open) -> None:
    page = open_page("/trained?model=minilm")
    expect_heatmap(page)
    expect(tile(page, "layer 0", 0)).to_have_attribute("aria-checked", "true")
    # Said even unasked: the first model of another host may be another one.
    expect_search(page, {"model": "minilm"})
    tile(page, "layer 1", 5).click()
    expect(caption(page, "Layer 1, head 5.")).to_be_visible()
    expect_search(page, {"model": "minilm", "layer": "1", "head": "5"})
    for key, layer, head in (
        ("ArrowDown", 2, 5),
        ("ArrowRight", 2, 6),
        ("Home", 0, 0),
        ("End", 5, 11),
    ):
        page.keyboard.press(key)
        expect(caption(page, f"Layer {layer}, head {head}.")).to_be_visible()
        expect(tile(page, f"layer {layer}", head)).to_have_attribute("aria-checked", "true")
        expect(tile(page, f"layer {layer}", head)).to_be_focused()
    expect_search(page, {"model": "minilm", "layer": "5", "head": "11"})
    page.keyboard.press("ArrowDown")
    expect(tile(page, "layer 5", 11)).to_have_attribute("aria-checked", "true")
    check_link(page, open_page)


def test_lines_through_all_layers_follow_the_token_that_is_clicked(open_page: Open) -> None:
    page = open_page("/trained?model=minilm&query=2")
    expect_heatmap(page)
    lines = page.locator(".st-key-layer_lines")
    expect(page.get_by_text("Follow “cat” through the layers")).to_be_visible()
    lines.get_by_role("option", name="street").click()
    expect(page.get_by_text("Follow “street” through the layers")).to_be_visible()
    expect_search(page, {"model": "minilm", "query": "6"})
    lines.get_by_role("option", name="cat").hover()
    expect(lines.get_by_role("status")).to_contain_text("“street” to “cat”, the most: ")
    lines.get_by_role("listbox").focus()
    page.mouse.move(0, 0)
    page.keyboard.press("ArrowLeft")
    expect(lines.get_by_role("status")).to_contain_text("Layer 5: “street” looks at ")
    page.keyboard.press("ArrowLeft")
    expect(lines.get_by_role("status")).to_contain_text("Layer 4: “street” looks at ")
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowUp")
    expect(page.get_by_text("Follow “the (5)” through the layers")).to_be_visible()


def test_a_link_with_a_model_shows_its_pieces_and_goes_along_to_other_pages(
    open_page: Open,
) -> None:
    link = {"model": "minilm", "layer": "2", "head": "7", "cut": "3"}
    page = open_page("/?" + urlencode(link))
    expect_heatmap(page)
    pieces = distinct_names(["[CLS]", *SENTENCE.split(), "[SEP]"])
    expect(labels(page, "x")).to_have_text(pieces)
    expect(page.get_by_text("was trained: heads cut out: 3.")).to_be_visible()
    page.get_by_text("Models", exact=True).click()
    page.get_by_role("menuitem", name="Trained", exact=True).click()
    expect(caption(page, "Layer 2, head 7.")).to_be_visible()
    expect(labels(page, "x")).to_have_text(pieces)
    page.get_by_role("link", name="Two sequences", exact=True).click()
    expect(page.get_by_text("In the formulas i counts the queries")).to_be_visible()
    expect(page.get_by_text("Trained model", exact=True)).to_have_count(0)
    page.get_by_role("link", name="Explore", exact=True).click()
    expect(labels(page, "x")).to_have_text(pieces)
    expect_search(page, link)


def test_a_translation_shows_what_each_piece_is_drawn_from(open_page: Open) -> None:
    page = open_page("/trained?" + urlencode({"s": "the red car", "model": "en-pt"}))
    expect(page.get_by_text("o carro vermelho", exact=True)).to_be_visible()
    expect(labels(page, "x", "alignment")).to_have_text(["·the", "·red", "·car", "</s>"])
    expect(labels(page, "y", "alignment")).to_have_text(["·o", "·carro", "·vermelho", "</s>"])
    tile(page, "decoder 1", 3).click()
    expect(caption(page, "Decoder 1, head 3.")).to_be_visible()
    expect(labels(page, "y")).to_have_text(["·o", "·carro", "·vermelho", "</s>"])
    expect(tile(page, "encoder 0", 0)).to_have_attribute("aria-checked", "false")


def test_the_page_fits_a_phone(open_page: Open) -> None:
    page = open_page("/trained?model=minilm", viewport={"width": 390, "height": 800})
    expect_heatmap(page)
    expect_to_fit(page)
