"""A run as one file of HTML, opened without a network."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import attention
from attention.capture import Recording
from attention.notebook import heads, page
from tests.browser.browsing import Page, expect
from tests.capture.making import OwnAttention, inputs, model
from tests.hostile import HOSTILE

TOKENS = 61
Show = Callable[[Path], Page]


@pytest.fixture(scope="module")
def run() -> Recording:
    with attention.capture() as captured:
        model(OwnAttention(is_causal=True), OwnAttention(is_causal=True))(inputs(1, TOKENS))
    return captured.one()


@pytest.fixture(scope="module")
def tokens() -> list[str]:
    hostile = [*HOSTILE, "</script><script>alert(1)</script>"]
    return [hostile[at % len(hostile)] if at % 2 else f"word{at}" for at in range(TOKENS)]


@pytest.fixture
def offline(browser: Any) -> Iterator[Show]:
    """Opens a file with the network off, in which nothing may fail or be asked for elsewhere."""
    faults: list[str] = []
    context = browser.new_context(offline=True, viewport={"width": 1200, "height": 1000})
    context.on("weberror", lambda error: faults.append(str(error.error)))
    context.on("console", lambda said: said.type == "error" and faults.append(said.text))
    context.on("dialog", lambda one: faults.append(one.message))
    known = ("file:", "blob:", "data:")
    context.on("request", lambda one: one.url.startswith(known) or faults.append(one.url))

    def opened(file: Path) -> Page:
        page = context.new_page()
        page.goto(file.as_uri())
        return page

    yield opened
    context.close()
    assert faults == []


def test_the_file_shows_the_weights_of_every_head_without_a_network(
    run: Recording, tokens: list[str], offline: Show, tmp_path: Path
) -> None:
    run.save_html(tmp_path / "run.html", tokens, layer=1, head=2, query=10)
    page = offline(tmp_path / "run.html")
    told = page.locator(".told")
    for layer, head in [(1, 2), (0, 1)]:
        page.get_by_role("radio").nth(3 * layer + head).click()
        expect(page.get_by_role("application")).to_have_attribute("data-map", f"run {layer} {head}")
        row = run.weights(layer, head, 10)[0]
        key = int(row.argmax())
        expect(told).to_contain_text("Query 10 “word10”")
        expect(told).to_contain_text(f"key {key} ")
        expect(told).to_contain_text(f"weight {row[key]:.4f}")
    field = page.get_by_label("Search for a word")
    field.fill("word50")
    field.press("Enter")
    expect(told).to_contain_text("Query 50 “word50”")
    expect(page.locator("img, iframe")).to_have_count(0)


def test_a_head_without_room_is_shown_by_blocks_and_the_others_are_said_to_be_absent(
    run: Recording, tokens: list[str], offline: Show, tmp_path: Path
) -> None:
    shown, chosen = heads.heads_of(run, tokens, None, None, (1, 2, 41))
    whole = page.page_of(shown, chosen)
    packed = len(page._packed(run.weights(1, 2)))
    least = len(whole) - 6 * packed
    text = page.page_of(shown, chosen, least + packed // 2)
    assert len(text) < len(whole)
    (tmp_path / "run.html").write_text(text, "utf-8")
    opened = offline(tmp_path / "run.html")
    expect(opened.get_by_text("each weight is the greatest of 2 × 2.")).to_be_visible()
    row = run.blocks(1, 2, 2, 2)[20]
    expect(opened.locator(".told")).to_contain_text(f"weight {row.max():.4f}")
    opened.get_by_role("radio").first.click()
    expect(opened.get_by_text("Layer 0, head 0: it is not in this file")).to_be_visible()
    expect(opened.get_by_role("application")).to_be_hidden()
