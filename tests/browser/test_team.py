"""The film of a team of heads in Chromium: one head goes out after the other, back, and again."""

from __future__ import annotations

import re
from functools import partial
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.browser.browsing import Page, eventually, expect, expect_in_search, expect_rest, search
from tests.trained.packaged import packaged

SENTENCE = "Anna met Tom at the park. Anna gave the ball to"
OFF = "0.7 23.3 24.4"
LINK = {"model": "smollm2", "s": SENTENCE, "query": "12", "off": OFF}
CLIPBOARD = {"permissions": ["clipboard-read", "clipboard-write"]}


@pytest.fixture(autouse=True)
def _with_model() -> None:
    packaged("smollm2")


def film(page: Page) -> Any:
    return page.locator(".st-key-team")


def stages(page: Page) -> Any:
    return film(page).get_by_role("radio")


def button(page: Page, name: str) -> Any:
    return film(page).get_by_role("button", name=name)


def expect_shown(page: Page, at: int) -> None:
    """Until that stage is the one that is shown, and told of."""
    expect(stages(page).nth(at)).to_have_attribute("aria-checked", "true")
    expect(film(page).locator("[aria-checked=true]")).to_have_count(1)


# Each stage from now on as it is shown, with how many lie ahead, as long as it may take to look; at
# `stopped` the film is stopped.
NOTE = """(host) => {
  const stages = () => [...host.shadowRoot.querySelectorAll(".stage")]
  const now = () => stages().findIndex(({ ariaChecked }) => ariaChecked === "true")
  let at = now()
  Object.assign(window, { shown: [], stopped: -1 })
  const look = () => {
    if (at === now()) return
    at = now()
    shown.push([at, stages().filter((stage) => stage.matches(".ahead")).length])
    if (at === stopped) host.shadowRoot.querySelector("[data-act=stop]").click()
  }
  const what = { subtree: true, childList: true, attributes: true }
  new MutationObserver(look).observe(host.shadowRoot, what)
}"""


def told(page: Page) -> Any:
    return film(page).locator(".told")


def test_a_team_goes_out_head_by_head_to_the_end_or_a_stop_and_goes_back_and_again(open_page):
    page = open_page("/model?" + urlencode(LINK))
    titles = ["All on", "0.7 off", "and 23.3", "and 24.4"]
    expect(stages(page).locator(".title")).to_have_text(titles)
    expect_shown(page, 3)
    expect(told(page)).to_contain_text("Head 24.4 goes out too: “Tom”")
    leaders = [stage.locator(".piece").first.text_content() for stage in stages(page).all()]
    assert leaders[0] == "Tom"
    assert leaders[3] == "Anna"
    expect(stages(page).nth(3)).to_have_class(re.compile("turned"))
    expect_rest(page)

    film(page).evaluate(NOTE)
    for stopped, shown in ((-1, [[0, 3], [1, 2], [2, 1], [3, 0]]), (1, [[0, 3], [1, 2], [3, 0]])):
        page.evaluate("stopped => Object.assign(window, { shown: [], stopped })", stopped)
        button(page, "Show it again").click()
        eventually(page, partial(page.evaluate, "shown"), shown)
    expect_shown(page, 3)
    assert search(page)["off"] == OFF  # the model stays as it is

    button(page, "Back").click()
    expect_in_search(page, "off", "0.7 23.3")
    expect_shown(page, 2)
    expect(stages(page)).to_have_count(4)
    expect(told(page)).to_contain_text("Head 23.3 goes out too")
    button(page, "Again →").click()
    expect_in_search(page, "off", OFF)
    expect_shown(page, 3)
    stages(page).nth(3).press("ArrowLeft")
    expect_in_search(page, "off", "0.7 23.3")
    expect(stages(page).nth(2)).to_be_focused()
