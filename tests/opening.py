"""Chromium, and pages of the app in it: the same for all tests of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

from tests import chromium

if TYPE_CHECKING:
    from tests.browser.browsing import Open, Page

VIEW = {"viewport": {"width": 1440, "height": 900}, "color_scheme": "light"}

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


@pytest.fixture(scope="session")
def profile(browser: Any) -> Any:
    """What all pages share that need no browser of their own: scripts are read and compiled once.

    Nothing else is left of a page, see `open_page`.
    """
    return browser.new_context()


@pytest.fixture
def open_page(browser: Any, profile: Any, server: str) -> Iterator[Open]:
    """Opens a link; afterwards nothing may have failed or left the machine.

    beside: a page that opens the link in a tab of its own; before: what to do with the page before
    it goes anywhere, in a browser of its own; more: the view, see `VIEW`.
    """
    pages: list[Page] = []
    faults: list[str] = []

    def open_page(
        link: str = "/",
        address: str = server,
        beside: Page | None = None,
        before: Callable[[Page], object] | None = None,
        **more: Any,
    ) -> Page:
        if beside is not None:
            with beside.context.expect_page() as opened:
                beside.evaluate("link => void open(link)", link)
            page = watched(opened.value, address)
        else:
            page = watched((browser.new_context() if before else profile).new_page(), address)
            view = VIEW | more
            page.set_viewport_size(view.pop("viewport"))
            page.emulate_media(**view)
            if before:
                before(page)
            page.goto(address + link)
        page.locator(DRAWN).nth(3).wait_for(state="attached")
        return page

    def watched(page: Page, address: str) -> Page:
        pages.append(page)
        page.on("pageerror", lambda error: faults.append(f"error: {error}"))
        page.on("dialog", note_dialog)
        page.on("console", lambda message: note_message(message.text))
        page.on("request", lambda request: note_request(request.url, address))
        return page

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
        stack.callback(profile.clear_permissions)
        stack.callback(profile.clear_cookies)
        for page in pages:
            stack.callback(page.close if page.context is profile else page.context.close)
            if not page.is_closed():
                expect(page.get_by_test_id("stException")).to_have_count(0)
                page.evaluate("localStorage.clear()")
    assert faults == []
