"""Atlases that were made by hand, where the app looks for an owner's."""

from __future__ import annotations

from pathlib import Path

import pytest

from attention.atlas import files
from tests.subjects.atlas import making
from tests.subjects.conftest import hurried, patient, warm, written

__all__ = ["hurried", "patient", "warm", "written"]


@pytest.fixture(autouse=True)
def _own_atlases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An atlas of the model built by hand, and none of the small grammar."""
    monkeypatch.setattr(files, "FOLDER", tmp_path / "none")
    monkeypatch.setenv(files.OWN_ATLAS_VARIABLE, str(tmp_path))
    files.write(making.atlas(), files.path_of(tmp_path, "constructed"))
