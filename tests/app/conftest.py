"""What the tests of the app share."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _warm(warm_server: None) -> None:
    """Pages are opened on a server that has shown one before; who needs a cold one undoes this."""
