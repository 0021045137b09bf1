"""Fixtures of the tests of what is shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from attention.trained.models import Transformer
from tests.trained.built import writer


@pytest.fixture(scope="session")
def written() -> Transformer:
    """A small model that norms first, as if trained, if not well, to go on writing."""
    return writer(Path())
