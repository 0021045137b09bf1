"""What several test files share."""

from __future__ import annotations

import pytest

from attention.vectors import PackagedGlove


@pytest.fixture(scope="session")
def glove() -> PackagedGlove:
    """GloVe, loaded once for the whole run."""
    return PackagedGlove()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--nothing-skips", action="store_true", help="fail when a test skips: all it needs is here"
    )


def pytest_sessionfinish(session: pytest.Session) -> None:
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if session.config.getoption("--nothing-skips") and reporter.stats.get("skipped"):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
