"""Hostile text in every box, link and file: on the page it is text, and does nothing."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlencode

import pandas
import pytest

from attention.inputs.text import tokenize
from tests.browser.browsing import (
    Page,
    choice,
    eventually,
    expect,
    expect_harmless,
    expect_to_fit,
    hostile,
)
from tests.browser.test_files import drawing, offered, saved
from tests.hostile import HOSTILE
from tests.trained.packaged import packaged

MOST_TERMS = 32
WORDS = ".st-key-arcs [role=option] bdi"
SHORT = " ".join(part for part in HOSTILE if len(part) < 100)
TAG = "<img src=x onerror=alert(1)> **b** $x$ | ![x](http://evil.example/a.png)"
PHONE = {"width": 390, "height": 800}


@pytest.mark.parametrize(
    ("link", "shown"),
    [
        ({"page": "", "fold": "how", "column": "1", "s": SHORT}, ".working"),
        ({"page": "cross", "memory": SHORT, "target": SHORT[::-1]}, ".equation"),
        ({"page": "cross", "cross": "batch", "batch": SHORT}, ".working"),
        ({"page": "model", "model": "minilm", "s": SHORT}, ".st-key-model_window canvas"),
    ],
    ids=["how", "cross", "batch", "model"],
)
def test_a_hostile_link_is_shown_as_text_and_fits_a_phone(link, shown, open_page):
    if "model" in link:
        packaged(link["model"])
    settings = {name: text for name, text in link.items() if name != "page"}
    page = open_page(f"/{link['page']}?{urlencode(settings)}", viewport=PHONE)
    expect(page.locator(shown).first).to_be_visible()
    expect_harmless(page)
    expect_to_fit(page)


def test_hostile_sentences_that_are_typed_are_text_in_every_part_and_file(open_page, tmp_path):
    first, *others = hostile(MOST_TERMS)
    page = open_page("/?" + urlencode({"s": first, "mask": "causal"}))
    check_cells(page, first)
    check_files(page, ("Arcs", "Heatmap"), tmp_path)
    table = pandas.read_csv(saved(page, "Weights, CSV", tmp_path), index_col=0)
    assert all(name[0].isdigit() for name in table.index)
    page.keyboard.press("Escape")
    choice(page, "fold", "numbers").click()
    box = page.get_by_label("Sentence", exact=True)
    for sentence in (*others, first):
        box.fill(sentence)
        check_harmless(page, sentence)
        check_terms(page, sentence)
    check_files(page, ("Sum",), tmp_path)


def check_harmless(page: Page, sentence: str) -> None:
    """The sentence names its tokens letter by letter, and nothing on the page is of them."""
    words = page.locator(WORDS)
    # as they were typed
    eventually(page, lambda: [*map(str.lower, words.all_text_contents())], tokenize(sentence))
    expect_harmless(page)


def check_cells(page: Page, sentence: str) -> None:
    """The heatmap names the tokens of a cell letter by letter."""
    tokens = tokenize(sentence)
    lines = [f"query  {tokens[-1]} ({len(tokens) - 1})", f"key  {tokens[0]} (0)"]
    cells, tip = page.locator(".attention-cells"), page.locator(".attention-tip")
    cells.scroll_into_view_if_needed()

    def told() -> list[str]:
        box = cells.bounding_box()
        page.mouse.move(box["x"] + 3, box["y"] + box["height"] - 3)
        return str(tip.text_content()).split("\n")[:2]

    eventually(page, told, lines)


def check_terms(page: Page, sentence: str) -> None:
    """The sum names its tokens letter by letter, in its equation up to 12 of them."""
    tokens = tokenize(sentence)
    eventually(page, page.locator(".terms tbody bdi").all_text_contents, tokens)
    short = {token if len(token) <= 12 else f"{token[:11]}…" for token in tokens}
    assert {*page.locator(".equation bdi").all_text_contents()} <= short


def check_files(page: Page, pictures: tuple[str, ...], folder: Path) -> None:
    """The pictures that are saved have no element that a sentence could have smuggled in."""
    offered(page)
    for picture in pictures:
        tags, _ = drawing(saved(page, f"{picture}, SVG", folder))
        assert not {"script", "img", "a", "style", "foreignObject"} & set(tags)
