"""A training as it is seen: under way, then step by step, and again from its link."""

from __future__ import annotations

import re

from tests.browser.browsing import Open, check_link, eventually, expect

SHORT = "/learning?task=repetition&learn_steps=100&learn_width=16&learn_seed=11"
PIXELS = "canvas => canvas.toDataURL()"


def test_a_training_is_watched_gone_through_step_by_step_and_reopened(open_page: Open) -> None:
    page = open_page(SHORT)
    page.get_by_role("button", name="Learn", exact=True).click()
    figure = page.locator(".st-key-learning_figure")
    step, slider = figure.locator("output"), figure.get_by_role("slider")
    expect(step).to_have_text(re.compile(r"Step 100: loss \d\.\d\d, \d+ % right"), timeout=120_000)
    expect(slider).to_be_visible()
    canvas = figure.locator("canvas").first
    last = canvas.evaluate(PIXELS)

    slider.press("Home")
    expect(step).to_have_text(re.compile("Step 0: loss"))
    assert canvas.evaluate(PIXELS) != last
    figure.get_by_role("button", name="Play").click()
    expect(figure.get_by_role("button", name="Pause")).to_be_visible()
    expect(step).to_have_text(re.compile("Step 100: loss"))
    eventually(page, lambda: canvas.evaluate(PIXELS), last)
    check_link(page, open_page)
