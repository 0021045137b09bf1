"""Fixtures of several test files."""

from __future__ import annotations

import contextlib
import ctypes
import gc
from collections.abc import Iterator
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


@pytest.fixture(autouse=True, scope="module")
def memory_is_given_back() -> Iterator[None]:
    """Give memory that a file's tests have freed back to the system, for those beside this one."""
    yield
    gc.collect()
    with contextlib.suppress(OSError, AttributeError):  # glibc alone keeps it, and has this
        ctypes.CDLL(None).malloc_trim(0)


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
