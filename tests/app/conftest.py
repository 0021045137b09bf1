"""What the tests of the app share."""

from __future__ import annotations

import pytest

from attention.app import session


@pytest.fixture(autouse=True)
def _warm(warm_server: None) -> None:
    """Pages are opened on a server that has shown one before; who needs a cold one undoes this."""


@pytest.fixture(autouse=True)
def _heard(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who has no network between hears of all that code has chosen, at once."""
    monkeypatch.setattr(session, "UNHEARD", 0.0)
