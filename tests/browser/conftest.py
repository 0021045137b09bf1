"""The app, served for all tests that look at it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.serving import serving

if TYPE_CHECKING:
    from tests.browser.browsing import Page, Show

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whoever has no browser leaves this folder out: -m "not browser"."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker("browser")


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The address of the app, served for the whole run."""
    with serving() as address:
        yield address


@pytest.fixture
def offline(browser: Any) -> Iterator[Show]:
    """Opens a file with the network off, in which nothing may fail or be asked for elsewhere."""
    faults: list[str] = []
    context = browser.new_context(offline=True, viewport={"width": 1200, "height": 1000})

    def note(fault: str, counts: bool = True) -> None:
        if counts:
            faults.append(fault)

    known = ("file:", "blob:", "data:")
    context.on("weberror", lambda error: note(str(error.error)))
    context.on("console", lambda said: note(said.text, said.type == "error"))
    context.on("dialog", lambda one: note(one.message))
    context.on("request", lambda one: note(one.url, not one.url.startswith(known)))

    def opened(file: Path) -> Page:
        page = context.new_page()
        page.goto(file.as_uri())
        return page

    yield opened
    context.close()
    assert faults == []
