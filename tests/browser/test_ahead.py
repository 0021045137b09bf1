"""What is shown of a change before Streamlit has drawn its page."""

from __future__ import annotations

import re

from tests.browser.browsing import Open, Page, expect, expect_rest, expect_search, with_messages

# What the server says by the websocket can be held back.
HELD = """
window.held = null
window.release = () => {
  const held = window.held
  window.held = null
  for (const task of held) task()
}
""" + with_messages("""(task) => function (event) {
  if (window.held) window.held.push(() => task.call(this, event))
  else task.call(this, event)
}""")
MESSAGES = 10  # of a run, at the least


def asked(page: Page) -> list[str]:
    """What pictures the page has asked for from now on, as it goes on asking."""
    found: list[str] = []
    page.on("request", lambda request: "/ahead?" in request.url and found.append(request.url))
    return found


def test_a_mask_shows_before_the_page_has_been_run_and_is_drawn_once(open_page: Open) -> None:
    page = open_page(before=lambda page: page.add_init_script(HELD))
    drawn = page.locator(".attention-cells")
    expect(drawn).to_have_attribute("data-version", re.compile(r"\d"))
    expect_rest(page)
    before = int(drawn.get_attribute("data-version") or 0)
    page.evaluate("window.held = []")
    page.get_by_test_id("stSidebar").get_by_text("causal", exact=True).click()
    expect(page.locator(".keys .masked")).to_have_count(5)
    expect(drawn).to_have_attribute("data-version", str(before + 1))
    page.wait_for_function("most => window.held.length > most", arg=MESSAGES)
    page.evaluate("window.release()")
    expect_search(page, {"mask": "causal"})
    expect_rest(page)
    expect(page.locator(".keys .masked")).to_have_count(5)
    expect(drawn).to_have_attribute("data-version", str(before + 1))


def test_nothing_is_asked_for_that_the_server_alone_knows_or_that_is_long(open_page: Open) -> None:
    page = open_page()
    urls = asked(page)
    page.get_by_test_id("stSidebar").get_by_text("cosine", exact=True).click()
    expect_search(page, {"variant": "cosine", "scale": "factor", "factor": "5.0"})
    expect_rest(page)
    assert urls == []
    page.get_by_test_id("stSidebar").get_by_text("causal", exact=True).click()
    expect(page.locator(".keys .masked")).to_have_count(5)
    expect_rest(page)
    assert len(urls) == 1
    long = open_page("/?s=" + "cat+" * 129)
    urls = asked(long)
    long.get_by_test_id("stSidebar").get_by_text("causal", exact=True).click()
    expect(long.locator(".keys .masked").first).to_be_attached()
    expect_rest(long)
    assert urls == []


def test_where_the_picture_cannot_be_had_the_page_brings_it(open_page: Open) -> None:
    page = open_page()
    page.route("**/ahead?*", lambda route: route.fulfill(status=204))
    page.get_by_test_id("stSidebar").get_by_text("causal", exact=True).click()
    expect(page.locator(".keys .masked")).to_have_count(5)
