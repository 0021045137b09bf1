"""Scenes of pages as files of HTML, opened without a network."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

import attention
from attention.figures.scene import Scene
from attention.subjects.compare import scene as compare
from attention.subjects.explore import scene as explore
from tests.browser.browsing import Page, expect
from tests.browser.test_one_file import offline  # noqa: F401, a fixture
from tests.hostile import HOSTILE
from tests.running import viewed

Show = Callable[[Path], Page]
SENTENCE = "rain fell softly on the old roof"


def test_the_picture_of_a_sentence_is_the_same_in_a_file_and_follows_a_chosen_word(
    offline: Show,  # noqa: F811
    tmp_path: Path,
) -> None:
    attention.save_scene(explore.attention(viewed("explore", s=SENTENCE)), tmp_path / "one.html")
    page = offline(tmp_path / "one.html")
    expect(page.locator(".js-plotly-plot .heatmaplayer image")).to_have_count(1)
    row = page.get_by_role("option", name=re.compile("^roof"))
    row.first.click()
    expect(row.first).to_have_attribute("aria-selected", "true")


def test_a_comparison_stands_in_a_file_with_its_words(
    offline: Show,  # noqa: F811
    tmp_path: Path,
) -> None:
    scene = compare.of_both(viewed("compare", s=SENTENCE, compare="masks"))
    attention.save_scene(scene, tmp_path / "two.html", "Two masks")
    page = offline(tmp_path / "two.html")
    assert page.title() == "Two masks"
    expect(page.locator(".attention-comparison-figure")).to_have_count(1)


@pytest.mark.parametrize("words", HOSTILE)
def test_hostile_words_of_a_scene_are_text_in_its_file(words: str, tmp_path: Path) -> None:
    from attention.figures.scene import note

    attention.save_scene(Scene([note(words)]), tmp_path / "note.html", words)
    text = (tmp_path / "note.html").read_text("utf-8")
    assert "<script>alert" not in text
    assert "<img src=x" not in text
