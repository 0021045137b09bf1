"""What several test files share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from streamlit.runtime.pages_manager import PagesManager

from attention.inputs.vectors import PackagedGlove
from tests import chromium
from tests.browsing import Open, Page, settle
from tests.serving import serving


@pytest.fixture(scope="session")
def glove() -> PackagedGlove:
    """GloVe, loaded once for the whole run."""
    return PackagedGlove()


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The address of the app, served for the whole run."""
    with serving() as address:
        yield address


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
def warm_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """AppTest forgets before every run that the frame has run; a server does not."""
    begin = PagesManager.__init__

    def warm(manager: PagesManager, *arguments: Any, **more: Any) -> None:
        begin(manager, *arguments, **more)
        PagesManager.uses_pages_directory = False

    monkeypatch.setattr(PagesManager, "__init__", warm)


@pytest.fixture
def one_thread() -> Iterator[None]:
    """As on the server: the last bit of a product depends on the number of threads."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture
def open_page(browser: Any, server: str) -> Iterator[Open]:
    """Opens a link of the app; afterwards nothing may have failed or left the machine."""
    contexts = []
    faults: list[str] = []

    def open_page(link: str = "/", address: str = server, **options: Any) -> Page:
        options = {"viewport": {"width": 1440, "height": 900}} | options
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: faults.append(f"error: {error}"))
        page.on("dialog", lambda dialog: (faults.append(f"dialog: {dialog}"), dialog.dismiss()))
        page.on("request", lambda request: note_request(request.url, address))
        page.goto(address + link)
        settle(page)
        return page

    def note_request(url: str, address: str) -> None:
        if not url.startswith((address, address.replace("http", "ws"), "data:", "blob:")):
            faults.append(f"request: {url}")

    yield open_page
    shown = [
        page.get_by_test_id("stException").count() for context in contexts for page in context.pages
    ]
    for context in contexts:
        context.close()
    assert faults == []
    assert not any(shown)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Fast ones first: what needs a browser comes last."""
    items.sort(key=lambda item: "browser" in getattr(item, "fixturenames", ()))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--nothing-skips", action="store_true", help="fail when a test skips: all it needs is here"
    )


def pytest_sessionfinish(session: pytest.Session) -> None:
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if session.config.getoption("--nothing-skips") and reporter.stats.get("skipped"):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
