"""Fixtures of tests that open pages without a browser."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from streamlit.runtime.pages_manager import PagesManager

from attention.app.controls import works


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages wait for what takes long; a browser would ask again."""
    monkeypatch.setattr(works, "patience", lambda *_: 120.0)


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Pages are shown as they first open; what takes long is given up with the test."""
    monkeypatch.setattr(works, "patience", lambda *_: 0.0)
    yield
    works._jobs.end()


@pytest.fixture(autouse=True)
def warm(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages are opened on a server that has shown one before.

    AppTest forgets before every run that the frame has run; a server does not.
    """
    begin = PagesManager.__init__

    def warmed(manager: PagesManager, *arguments: Any, **more: Any) -> None:
        begin(manager, *arguments, **more)
        PagesManager.uses_pages_directory = False

    monkeypatch.setattr(PagesManager, "__init__", warmed)
