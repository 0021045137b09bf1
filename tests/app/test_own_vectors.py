"""An owner's vector file, read as the server starts: what a visitor is then offered."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from attention.app.shell import server
from attention.app.state import shared
from attention.app.state.shared import neighbours
from attention.inputs.vectors import OWN_VECTORS_VARIABLE
from tests.inputs.own_files import BROKEN, THREE_WORDS
from tests.running import opened

NOTE = "vectors must be one of glove, random, got 'own'; showing glove instead."


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., str]]:
    """A function that starts the server with a vector file, as far as that; gives its path."""

    class Running:
        async def does_script_run_without_error(self) -> None:
            pass

    async def up_and_down() -> None:
        async with server.lifespan(None):
            pass

    def with_file(content: bytes, name: str = "own.txt") -> str:
        path = tmp_path / name
        path.write_bytes(content)
        monkeypatch.setenv(OWN_VECTORS_VARIABLE, str(path))
        with monkeypatch.context() as patched:
            patched.setattr(server.Runtime, "instance", Running)
            asyncio.run(up_and_down())
        return str(path)

    forget()
    yield with_file
    forget()


def forget() -> None:
    shared.load_vectors.clear("own")
    shared.width_of.cache_clear()
    neighbours.clear("own")


@pytest.mark.parametrize("name", BROKEN)
def test_a_file_that_cannot_be_read_is_told_of_at_start_and_not_offered(
    name: str, start: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    content, problem = BROKEN[name]
    path = start(content, name)
    said = capsys.readouterr().err
    assert f"{OWN_VECTORS_VARIABLE} must name a GloVe or word2vec text file, got {path!r}" in said
    assert f": {problem}" in said
    app = opened("explore", vectors="own")
    assert app.notes == [NOTE]
    assert app.controls["vectors"].options == ["glove", "random"]
    assert app.values["vectors"] == "glove"
    assert OWN_VECTORS_VARIABLE not in capsys.readouterr().err, "it is not read again"


def test_a_file_is_read_once_at_start_however_many_visitors_come(
    start: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = start(("\ufeff" + THREE_WORDS).encode())
    Path(path).unlink()
    for _ in range(2):
        app = opened("explore", vectors="own", s="cat dog naïve")
        assert app.notes == []
        assert app.values["vectors"] == "own"
        assert app.sent["picture"].header["columns"] == 3
