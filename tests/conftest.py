"""Fixtures of several test files."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from attention import subjects
from attention.inputs.vectors import PackagedGlove
from tests.opening import browser, open_page, profile

if find_spec("streamlit"):  # the library is tested without the app too: `make bounds`
    subjects.declare_pages()

__all__ = ["browser", "open_page", "profile"]


@pytest.fixture(scope="session")
def glove() -> PackagedGlove:
    """GloVe, loaded once for the whole run."""
    return PackagedGlove()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Fast ones first: what needs a browser comes last."""
    items.sort(key=lambda item: "browser" in getattr(item, "fixturenames", ()))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--nothing-skips", action="store_true", help="fail when a test skips: all it needs is here"
    )


def pytest_sessionfinish(session: pytest.Session) -> None:
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    skipped = reporter and reporter.stats.get("skipped")
    if session.config.getoption("--nothing-skips") and skipped:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
