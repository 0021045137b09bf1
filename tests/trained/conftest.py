"""Fixtures of the tests of trained models."""

from __future__ import annotations

import functools
import shutil
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.trained.making import FAMILIES, Checkpoint, write_checkpoint

LOOPBACK = ("127.0.0.1", "::1", "localhost")


@pytest.fixture(autouse=True)
def _no_other_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing outside this machine is asked for anything."""
    connect = socket.socket.connect

    def guarded(this: socket.socket, address: Any) -> None:
        if isinstance(address, tuple) and address[0] not in LOOPBACK:
            pytest.fail(f"a socket to {address} was tried")
        connect(this, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Checkpoint]:
    """A checkpoint of one of `FAMILIES`, written once for the whole run."""

    @functools.cache
    def written(name: str) -> Checkpoint:
        return write_checkpoint(tmp_path_factory.mktemp("checkpoint") / name, name)

    return written


@pytest.fixture
def copy(checkpoint: Callable[[str], Checkpoint], tmp_path: Path) -> Callable[[str], Path]:
    """A copy of a checkpoint's folder, to be changed."""

    def copied(name: str) -> Path:
        return Path(shutil.copytree(checkpoint(name).folder, tmp_path / "model"))

    return copied


@pytest.fixture(params=FAMILIES)
def each_checkpoint(
    request: pytest.FixtureRequest, checkpoint: Callable[[str], Checkpoint]
) -> Checkpoint:
    """Every family in turn."""
    return checkpoint(request.param)
