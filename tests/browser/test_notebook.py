"""Figures made in Python, as one sees them in a file: colours of the app, tokens on hover."""

from __future__ import annotations

import io
import tomllib
from pathlib import Path
from typing import Any

import torch
from PIL import Image

from attention.core.functional import WeightsAlone
from attention.figures.picture import AttentionPicture, Picture
from attention.figures.worked_out import page_of_scene
from tests.browser.browsing import Page, eventually, expect

CONFIG = Path(__file__).parents[2] / ".streamlit" / "config.toml"
THEMES: dict[str, Any] = tomllib.loads(CONFIG.read_text("utf-8"))["theme"]


def colour_at(page: Page, across: float, down: float) -> Any:
    """The colour of a point of the first heatmap, by its share of width and height."""
    box = page.locator(".heatmaplayer image").first.bounding_box()
    seen = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    at = int(box["x"] + across * box["width"]), int(box["y"] + down * box["height"])
    return seen.getpixel(at)


def test_a_file_of_figures_is_light_or_dark_as_its_reader_has_it(offline, tmp_path):
    tokens = [str(token) for token in range(13)]
    shown = Picture(WeightsAlone(torch.eye(13)), tokens, [True] * 13, ["heatmap"])
    content = page_of_scene(AttentionPicture(shown, key="picture"), query=5)
    (tmp_path / "figures.html").write_text(content, "utf-8")
    page = offline(tmp_path / "figures.html")
    expect(page.locator(".heatmaplayer image").first).to_be_attached()
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
