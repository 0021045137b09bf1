"""A training as it is seen: under way, then step by step, and again from its link."""

import re

from tests.browser.browsing import check_link, eventually, expect

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


def test_a_training_is_bet_on_watched_gone_through_step_by_step_and_reopened(open_page):
    page = open_page(SHORT)
    figure = page.locator(".st-key-learning_figure")
    expect(figure).to_be_visible()
    bet = figure.get_by_role("slider", name="Your bet: how many % right after 100 steps?")
    bet.press("End")
    bet.press("ArrowLeft")
    said = figure.locator(".bet output")
    expect(said).to_have_text("99 %")
    expect(figure.locator("line.bet")).to_have_count(1)
    page.evaluate(COUNT_FIGURES)
    page.get_by_role("button", name="Learn", exact=True).click()
    step, slider = figure.locator(".reel output"), figure.get_by_role("slider", name="Step")
    expect(step).to_have_text(re.compile(r"^100: loss \d\.\d\d, \d+ % right"), timeout=120_000)
    expect(slider).to_be_visible()
    assert page.evaluate("counts") == [1]  # it was one and the same all the while
    expect(said).to_contain_text("You bet 99 %. It is ")
    expect(bet).to_be_hidden()
    canvas = figure.locator("canvas").first
    last = canvas.evaluate(PIXELS)

    slider.press("Home")
    expect(step).to_have_text(re.compile("^0: loss"))
    assert canvas.evaluate(PIXELS) != last
    figure.get_by_role("button", name="Play").click()
    expect(figure.get_by_role("button", name="Pause")).to_be_visible()
    expect(step).to_have_text(re.compile("^100: loss"))
    eventually(page, lambda: canvas.evaluate(PIXELS), last)
    page.reload()  # of a bet nothing stays
    check_link(page, open_page)


def test_a_smaller_state_moves_the_curves_of_a_race_and_stands_in_the_link(open_page):
    page = open_page("/learning?task=race")
    figure = page.locator(".st-key-learning_figure")
    state, pairs = (figure.get_by_role("slider", name=name) for name in ("State", "Pairs"))
    expect(figure.get_by_text("keeps 640, learns 1,824 numbers")).to_be_visible()
    equal = figure.get_by_role("figure", name="GRU of equal state")
    expect(equal.locator("figcaption > span").last).to_have_text("keeps 256 numbers")
    eventually(page, lambda: figure.locator("output").first.inner_text(), "3,000 of 3,000")
    line = figure.locator("path.line").nth(1)
    before = line.get_attribute("d")
    state.press("Home")
    expect(figure.locator("output").nth(1)).to_have_text("8 × 8 numbers")
    assert line.get_attribute("d") != before
    pairs.press("Home")
    expect(figure.get_by_text("keeps 80, learns 656 numbers")).to_be_visible()
    expect(figure.locator("canvas")).to_have_count(7)
    page.wait_for_url(re.compile("learn_width=8"))
    page.wait_for_url(re.compile("learn_pairs=5"))
    check_link(page, open_page)
