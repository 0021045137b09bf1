"""What several test files share."""

from __future__ import annotations

import pytest

from attention.vectors import PackagedGlove


@pytest.fixture(scope="session")
def glove() -> PackagedGlove:
    """GloVe, loaded once for the whole run."""
    return PackagedGlove()
