"""What is shown of a change before Streamlit has drawn its page."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.browsing import Open, expect_rest, expect_search

# All that the server says by the websocket comes half a second late.
LATE = """
const wait = (task) => function (event) { setTimeout(() => task.call(this, event), 500) }
const own = Object.getOwnPropertyDescriptor(WebSocket.prototype, "onmessage")
const set = function (task) { own.set.call(this, wait(task)) }
Object.defineProperty(WebSocket.prototype, "onmessage", { ...own, set })
window.told = []
new MutationObserver(() => {
  const app = document.querySelector("[data-testid=stApp]")
  const masked = document.querySelectorAll(".keys .masked").length
  const drawn = document.querySelector(".attention-cells")?.dataset.version
  window.told.push([masked, drawn, app?.dataset.testScriptState])
}).observe(document, { subtree: true, childList: true, attributes: true })
"""


def asked(page: Page) -> list[str]:
    """What pictures the page has asked for from now on, as it goes on asking."""
    found: list[str] = []
    page.on("request", lambda request: "/ahead?" in request.url and found.append(request.url))
    return found


def test_a_mask_shows_before_the_page_has_been_run_and_is_drawn_once(open_page: Open) -> None:
    page = open_page(before=lambda page: page.add_init_script(LATE))
    expect_rest(page)
    before = page.locator(".attention-cells").get_attribute("data-version")
    page.get_by_test_id("stSidebar").get_by_text("causal", exact=True).click()
    expect(page.locator(".keys .masked")).to_have_count(5)
    expect_search(page, {"mask": "causal"})
    page.wait_for_function(
        "() => window.told.some(([masked, , run]) => masked && run === 'running')"
    )
    expect_rest(page)
    told = page.evaluate("window.told")
    first = next(state for masked, _, state in told if masked)
    assert first == "notRunning", "nothing had been heard of the server"
    assert int(told[-1][1]) == int(before or 0) + 1


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
