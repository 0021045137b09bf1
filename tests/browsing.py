"""A page in Chromium, as the tests that need what a person really sees use it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl

Page = Any
Open = Callable[..., Page]


# Elements and letters on the page, inside the components too.
ALL_THERE_IS = """() => {
  const size = (root) => [...root.querySelectorAll("*")].reduce(
    (sum, element) => sum + 1 + (element.shadowRoot ? size(element.shadowRoot) : 0),
    root.textContent?.length ?? 0,
  )
  return size(document)
}"""

NO_HEATMAP_TO_COME = """() =>
  !document.querySelector(".attention-heatmap") || document.querySelector(".hm image")
"""


def settle(page: Page) -> None:
    """Wait until the app has started, has nothing more to run, and draws nothing more."""
    shown = page.locator("[data-testid=stMain] [data-testid=stElementContainer]")
    shown.nth(3).wait_for(state="attached", timeout=30_000)
    rests = "[data-testid=stApp][data-test-script-state=notRunning]"
    before = None
    for _ in range(40):
        page.locator(rests).wait_for(timeout=30_000)
        page.wait_for_timeout(250)
        now = page.evaluate(ALL_THERE_IS)
        if now == before:
            break
        before = now
    page.wait_for_function(NO_HEATMAP_TO_COME, timeout=30_000)
    page.wait_for_timeout(100)


def search(page: Page) -> dict[str, str]:
    """The settings in the address bar."""
    return dict(parse_qsl(page.evaluate("location.search.slice(1)")))
