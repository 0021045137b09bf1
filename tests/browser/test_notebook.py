"""Figures made in Python, as one sees them in a file: colours of the app, tokens on hover."""

from __future__ import annotations

import io
import tomllib
from collections.abc import Callable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
import torch
from PIL import Image

from attention.core.functional import WeightsAlone
from attention.figures.picture import AttentionPicture, Picture
from attention.figures.worked_out import page_of_scene
from attention.notebook.show import show
from tests.browser.browsing import Page, eventually, expect
from tests.subjects.steps.making import drawn

CONFIG = Path(__file__).parents[2] / ".streamlit" / "config.toml"
THEMES: dict[str, Any] = tomllib.loads(CONFIG.read_text("utf-8"))["theme"]
TOKENS = ["the", "<b>cat</b>", "<img src=x>", "the"]

Show = Callable[..., Page]


@pytest.fixture
def open_file(browser: Any, tmp_path: Path) -> Iterator[Show]:
    """Opens a page of HTML from a file, with nothing to reach from there."""
    pages = []

    def opened(content: str, scheme: str = "light") -> Page:
        (tmp_path / "figures.html").write_text(content, "utf-8")
        page = browser.new_page(color_scheme=scheme, viewport={"width": 1000, "height": 1000})
        pages.append(page)
        page.goto((tmp_path / "figures.html").as_uri())
        expect(page.locator(".heatmaplayer image").first).to_be_attached()
        return page

    yield opened
    for page in pages:
        page.close()


def colour_at(page: Page, across: float, down: float) -> Any:
    """The colour of a point of the first heatmap, by its share of width and height."""
    box = page.locator(".heatmaplayer image").first.bounding_box()
    seen = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    at = int(box["x"] + across * box["width"]), int(box["y"] + down * box["height"])
    return seen.getpixel(at)


def test_a_file_of_figures_is_light_or_dark_as_its_reader_has_it(open_file: Show) -> None:
    tokens = [str(token) for token in range(13)]
    shown = Picture(WeightsAlone(torch.eye(13)), tokens, [True] * 13, ["heatmap"])
    page = open_file(page_of_scene(AttentionPicture(shown, key="picture"), query=5), "dark")
    for name in ("dark", "light", "dark"):
        page.emulate_media(color_scheme=name)
        theme = THEMES[name]
        first, last = (pixel(theme["chartSequentialColors"][end]) for end in (0, -1))
        eventually(page, lambda: colour_at(page, 0.5 / 13, 0.5 / 13), last)
        eventually(page, lambda: colour_at(page, 1.5 / 13, 0.5 / 13), first)
        ground, ink = (
            page.evaluate(f"getComputedStyle(document.body).{part}")
            for part in ("backgroundColor", "color")
        )
        assert ground == f"rgb{pixel(theme['backgroundColor'])}"
        assert ink == f"rgb{pixel(theme['textColor'])}"


def pixel(colour: str) -> tuple[int, ...]:
    """Red, green and blue of a colour of the theme."""
    return tuple(bytes.fromhex(colour[1:]))


def test_pointing_at_a_cell_tells_its_head_tokens_and_weight(open_file: Show) -> None:
    weights = drawn(2, 3, 4, 4).softmax(-1)
    page = open_file(show([*weights], TOKENS).to_html())
    box = page.locator(".heatmaplayer image").bounding_box()
    hover = page.locator(".hoverlayer tspan.line, .hoverlayer .nums:not(:has(tspan.line))")

    def expect_told(layer: int, head: int, query: int, key: int) -> None:
        across, down = (5 * head + key + 0.5) / 14, (5 * layer + query + 0.5) / 9
        page.mouse.move(box["x"] + across * box["width"], box["y"] + down * box["height"])
        expect(hover).to_have_text(
            [
                f"layer {layer}, query {TOKENS[query]} ({query})",
                f"head {head}, key {TOKENS[key]} ({key})",
                f"weight {weights[layer, head, query, key]:.4f}",
            ]
        )

    for layer in range(2):
        for query in range(4):
            expect_told(layer, 1, query, 2)
    for head in range(3):
        for key in range(4):
            expect_told(1, head, 1, key)
    expect(page.locator("img")).to_have_count(0)
    expect(page.locator(".hoverlayer [style*=bold]")).to_have_count(0)
    page.mouse.move(box["x"] + 4.5 / 14 * box["width"], box["y"] + box["height"] / 18)
    expect(hover).to_have_count(0)


@pytest.mark.parametrize("tokens", [3, 128])
def test_heads_at_a_glance_are_squares_with_gaps_between_them(open_file: Show, tokens: int) -> None:
    names = [str(token) for token in range(tokens)]
    even = torch.ones(12, 12, tokens, tokens) / tokens
    page = open_file(show(even, names, layer="all").to_html())
    box = page.locator(".heatmaplayer image").bounding_box()
    left, top, width, height = (round(box[part]) for part in ("x", "y", "width", "height"))
    seen = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    last = pixel(THEMES["light"]["chartSequentialColors"][-1])
    across = [seen.getpixel((left + x, top + height // 24)) == last for x in range(width)]
    down = [seen.getpixel((left + width // 24, top + y)) == last for y in range(height)]
    for line in (across, down):
        lengths = [(head, len([*run])) for head, run in groupby(line[2:-2])]
        gaps = [length for head, length in lengths if not head]
        sides = [length for head, length in lengths if head][1:-1]
        assert len(gaps) == 11
        assert min(gaps) >= 3
        assert max(sides) - min(sides) <= 1
        assert sides[0] == pytest.approx(60, abs=12), "of the width of a notebook"
