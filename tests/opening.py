"""Chromium, and pages of the app in it: the same for all tests of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

from tests import chromium

if TYPE_CHECKING:
    from tests.browser.browsing import Open, Page

# A run of the app has ended that drew more than the frame.
DRAWN = (
    "[data-testid=stApp][data-test-script-state=notRunning] [data-testid=stMain] "
    "[data-testid=stElementContainer]"
)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium; what needs it skips where it is missing."""
    reason = "needs playwright (requirements-dev.txt)"
    api = pytest.importorskip("playwright.sync_api", reason=reason)
    if chromium.find() is None:
        pytest.skip("needs Chromium")
    with api.sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=chromium.find(), args=chromium.ARGUMENTS)


@pytest.fixture
def open_page(browser: Any, server: str) -> Iterator[Open]:
    """Opens a link; afterwards nothing may have failed or left the machine.

    beside: a page that opens the link in a tab of its own, which takes less time than to start
    anew; before: what to do with the page before it goes anywhere; ready: the elements to wait
    for, at least four.
    """
    contexts = []
    faults: list[str] = []

    def open_page(
        link: str = "/",
        address: str = server,
        beside: Page | None = None,
        before: Callable[[Page], object] = lambda page: None,
        **options: Any,
    ) -> Page:
        if beside is not None:
            with beside.context.expect_page() as opened:
                beside.evaluate("link => void open(link)", link)
            page = opened.value
        else:
            page = new_context(address, options).new_page()
            before(page)
            page.goto(address + link)
        page.locator(DRAWN).nth(3).wait_for(state="attached")
        return page

    def new_context(address: str, options: dict[str, Any]) -> Any:
        context = browser.new_context(**{"viewport": {"width": 1440, "height": 900}} | options)
        contexts.append(context)
        context.on("weberror", lambda error: faults.append(f"error: {error.error}"))
        context.on("dialog", note_dialog)
        context.on("console", lambda message: note_message(message.text))
        context.on("request", lambda request: note_request(request.url, address))
        return context

    def note_dialog(dialog: Any) -> None:
        faults.append(f"dialog: {dialog}")
        dialog.dismiss()

    def note_message(text: str) -> None:
        if "Content Security Policy" in text:
            faults.append(text)

    def note_request(url: str, address: str) -> None:
        if not url.startswith((address, address.replace("http", "ws"), "data:", "blob:")):
            faults.append(f"request: {url}")

    from tests.browser.browsing import expect  # playwright is there, since `browser` is

    with ExitStack() as stack:
        yield open_page
        for context in contexts:
            stack.callback(context.close)
            for page in context.pages:
                expect(page.get_by_test_id("stException")).to_have_count(0)
    assert faults == []
