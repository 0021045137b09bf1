"""A page in Chromium, as the tests that need what a person really sees use it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl

Page = Any
Open = Callable[..., Page]


def settle(page: Page) -> None:
    """Wait until the app has started, has nothing more to run, and has painted it."""
    shown = page.locator("[data-testid=stMain] [data-testid=stElementContainer]")
    shown.nth(3).wait_for(state="attached", timeout=30_000)
    page.wait_for_timeout(300)
    rests = "[data-testid=stApp][data-test-script-state=notRunning]"
    page.locator(rests).wait_for(timeout=30_000)
    page.wait_for_timeout(150)


def search(page: Page) -> dict[str, str]:
    """The settings in the address bar."""
    return dict(parse_qsl(page.evaluate("location.search.slice(1)")))
