"""Chromium, and pages of the app in it: the same for all tests of a run."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from tests import chromium

if TYPE_CHECKING:
    from tests.browser.browsing import Open, Page

VIEW: dict[str, Any] = {
    "viewport": {"width": 1440, "height": 900},
    "color_scheme": "light",
    "permissions": [],
}

# A run of the app has ended that drew more than the frame.
DRAWN = (
    "[data-testid=stApp][data-test-script-state=notRunning] [data-testid=stMain] "
    "[data-testid=stElementContainer]"
)


# The first page of a server, on a busy machine.
OPENED = 120_000  # milliseconds

# A second run may follow, which takes back a click; some pages go on by themselves.
REST = 3000  # milliseconds


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
    """Context that all pages share that need no browser of their own: scripts are read and compiled
    once.

    Nothing else is left of a page, see `open_page`.
    """
    return browser.new_context()


@pytest.fixture
def open_page(browser: Any, profile: Any, server: str) -> Iterator[Open]:
    """Opens a link; afterwards nothing may have failed or left the machine.

    beside: a page that opens the link in a tab of its own, of the same size; before: what to do
    with the page before it goes anywhere, in a browser of its own; more: the view, see `VIEW`.
    """
    from playwright import sync_api as api

    from tests.browser.browsing import expect_rest

    faults: list[str] = []
    addresses = [server]

    def open_page(
        link: str = "/explore",
        address: str = server,
        beside: Page | None = None,
        before: Callable[[Page], object] | None = None,
        **more: Any,
    ) -> Page:
        addresses.append(address)
        if beside is not None:
            with beside.context.expect_page() as opened:
                beside.evaluate("link => void open(link)", link)
            page = opened.value
            page.set_viewport_size(beside.viewport_size)
        else:
            page = (watched(browser.new_context()) if before else profile).new_page()
            view = VIEW | more
            page.context.grant_permissions(view.pop("permissions"))
            page.set_viewport_size(view.pop("viewport"))
            page.emulate_media(**view)
            if before:
                before(page)
            page.goto(address + link, timeout=OPENED)
        page.locator(DRAWN).nth(3).wait_for(state="attached", timeout=OPENED)
        with contextlib.suppress(api.TimeoutError):
            expect_rest(page, REST)
        return page

    def note_dialog(dialog: Any) -> None:
        faults.append(f"dialog: {dialog}")
        dialog.dismiss()

    def note_request(request: Any) -> None:
        known = [*addresses, *(address.replace("http", "ws") for address in addresses)]
        if not request.url.startswith((*known, "data:", "blob:")):
            faults.append(f"request: {request.url}")

    watches: dict[str, Callable[[Any], object]] = {
        "weberror": lambda error: faults.append(f"error: {error.error}"),
        "dialog": note_dialog,
        "console": lambda said: faults.extend([said.text] * ("Security Policy" in said.text)),
        "request": note_request,
    }

    def watched(context: Any) -> Any:
        for name, watch in watches.items():
            context.on(name, watch)
        contexts.append(context)
        return context

    contexts: list[Any] = []
    watched(profile)
    yield open_page
    for context in contexts:
        for page in context.pages:
            if page.get_by_test_id("stException").count():
                faults.append(f"an exception is shown: {page.url}")
            if page.get_by_text("Cached ForwardMsg MISS").count():
                faults.append(f"a message is missed: {page.url}")  # see docs/upstream.md
            page.close()
        if context is not profile:
            context.close()
    profile.set_storage_state({"cookies": [], "origins": []})
    profile.clear_permissions()
    for name, watch in watches.items():
        profile.remove_listener(name, watch)
    assert not faults, faults
