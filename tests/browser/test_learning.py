"""A training as it is seen: under way, then step by step, and again from its link."""

from __future__ import annotations

import re

from tests.browser.browsing import Open, check_link, eventually, expect

SHORT = "/learning?task=repetition&learn_steps=100&learn_width=16&learn_seed=11"
COUNT_FIGURES = """() => {
  const figures = new Set(document.querySelectorAll(".st-key-learning_figure"))
  globalThis.counts = [figures.size]
  const count = () => {
    const here = document.querySelectorAll(".st-key-learning_figure")
    for (const one of here) figures.add(one)
    for (const many of [here.length, figures.size])
      if (!counts.includes(many)) counts.push(many)
  }
  new MutationObserver(count).observe(document.body, { childList: true, subtree: true })
}"""
PIXELS = "canvas => canvas.toDataURL()"


def test_a_training_is_watched_gone_through_step_by_step_and_reopened(open_page: Open) -> None:
    page = open_page(SHORT)
    figure = page.locator(".st-key-learning_figure")
    expect(figure).to_be_visible()
    page.evaluate(COUNT_FIGURES)
    page.get_by_role("button", name="Learn", exact=True).click()
    step, slider = figure.locator("output"), figure.get_by_role("slider")
    expect(step).to_have_text(re.compile(r"Step 100: loss \d\.\d\d, \d+ % right"), timeout=120_000)
    expect(slider).to_be_visible()
    assert page.evaluate("counts") == [1]  # it was one and the same all the while
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
