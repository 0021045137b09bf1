"""Dequantised weights: a file is used that is whole, and one's own or root's; all else is told."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import gguf
import pytest
import torch
from torch import Tensor

from attention.trained import gguf_files, shared_weights
from attention.trained.gguf_files import load_gguf
from attention.trained.shared_weights import WEIGHTS_VARIABLE, map_shared
from tests.cases import over
from tests.trained.test_gguf import ABOUT, tiny

__all__ = ["tiny"]  # a fixture

NAME = "model.safetensors"
WEIGHTS = {"a": torch.arange(77.0).reshape(7, 11), "b": torch.arange(1300.0).reshape(100, 13)}
NBYTES = 4 * (7 * 11 + 1300)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is not there yet, for weights."""
    monkeypatch.setenv(WEIGHTS_VARIABLE, str(tmp_path / "kept"))
    return tmp_path / "kept"


class Start:
    """A start of a process: what it has mapped, how often it dequantised, and what it logged."""

    def __init__(self, caplog: pytest.LogCaptureFixture) -> None:
        caplog.clear()
        self.made = 0
        self.mapped = map_shared(NAME, NBYTES, self._make)
        self.said = [record.getMessage() for record in caplog.records]

    def _make(self) -> dict[str, Tensor]:
        self.made += 1
        return WEIGHTS

    @property
    def is_right(self) -> bool:
        """True if all weights are mapped, and as they were made."""
        taken = self.mapped
        return taken is not None and all(
            torch.equal(taken.take(name, *each.shape), each) for name, each in WEIGHTS.items()
        )


def changed(change: Callable[[bytes], bytes], of: str = "") -> Callable[[Path], object]:
    def damage(file: Path) -> None:
        file = file.with_name(file.name + of)
        content = change(file.read_bytes())
        file.unlink()  # it may be mapped
        file.write_bytes(content)
        file.chmod(0o644)

    return damage


def digest_for(name: str) -> Callable[[Path], object]:
    """A right digest, of a file of another name."""

    def damage(file: Path) -> None:
        found = hashlib.sha256(file.read_bytes()).hexdigest()
        file.with_name(f"{NAME}.sha256").write_text(f"{found}  {name}\n", "utf-8")

    return damage


NOT_WHOLE = (
    r"model\.safetensors must have the SHA-256 of its digest, '.*'…, got .*: it is made anew"
)
DAMAGES = {
    "truncated": (changed(lambda whole: whole[:-900]), NOT_WHOLE),
    "eight changed bytes": (changed(lambda all: all[:-99] + b"ABCDEFGH" + all[-91:]), NOT_WHOLE),
    "wrong digest": (changed(lambda said: b"0" + said[1:][::-1], ".sha256"), NOT_WHOLE),
    "digest of another": (digest_for("other.safetensors"), NOT_WHOLE),
    "digest missing": (
        lambda file: file.with_name(f"{NAME}.sha256").unlink(),
        r"model\.safetensors has no digest beside it: both are made anew",
    ),
}


@over("name", DAMAGES)
def test_a_file_that_is_not_whole_is_made_anew_and_told_of(name, folder, caplog):
    damage, words = DAMAGES[name]
    shutil.rmtree(folder, ignore_errors=True)
    first = Start(caplog)
    assert (first.is_right, first.made, first.said) == (True, 1, [])
    again = Start(caplog)
    assert (again.is_right, again.made, again.said) == (True, 0, [])
    damage(folder / NAME)
    mended = Start(caplog)
    assert (mended.is_right, mended.made, len(mended.said)) == (True, 1, 1)
    assert re.search(words, mended.said[0])
    after = Start(caplog)
    assert (after.is_right, after.made, after.said) == (True, 0, [])
    assert sorted(path.name for path in folder.iterdir()) == [NAME, f"{NAME}.sha256"]


def test_all_may_read_the_file_and_its_digest_is_that_of_sha256sum(folder, caplog):
    assert Start(caplog).is_right
    content = (folder / NAME).read_bytes()
    said = (folder / f"{NAME}.sha256").read_text("utf-8")
    assert said == f"{hashlib.sha256(content).hexdigest()}  {NAME}\n"
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o644}


def no_space(tensors: object, file: Path) -> None:
    """Fails on the way, as on a disk that others have filled."""
    file.write_bytes(b"half")
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def owner(uid: int, me: int) -> Callable[[pytest.MonkeyPatch, Path], object]:
    """All files are of one user, and one is another."""
    fstat = os.fstat

    def set_up(patch: pytest.MonkeyPatch, folder: Path) -> None:
        def told(opened: int) -> os.stat_result:
            found = [*fstat(opened)]
            return os.stat_result([*found[:4], uid, *found[5:]])

        patch.setattr(os, "geteuid", lambda: me)
        patch.setattr(os, "fstat", told)

    return set_up


def mode(name: str, bits: int) -> Callable[[pytest.MonkeyPatch, Path], object]:
    return lambda patch, folder: (folder / name).chmod(bits)


def pipe(patch: pytest.MonkeyPatch, folder: Path) -> None:
    (folder / NAME).unlink()
    os.mkfifo(folder / NAME)


def a_file(patch: pytest.MonkeyPatch, folder: Path) -> None:
    shutil.rmtree(folder)
    folder.write_text("no folder", "utf-8")


ONLY = "must be a file that only oneself or root can write, it is "
NOT_SHARED: dict[str, tuple[Callable[[pytest.MonkeyPatch, Path], object], str]] = {
    "another's file": (
        owner(1001, 1002),
        rf"model\.safetensors {ONLY}of the user 1001, -rw-r--r--",
    ),
    "anyone can write it": (mode(NAME, 0o666), rf"{ONLY}of the user \d+, -rw-rw-rw-"),
    "a group can write its digest": (mode(f"{NAME}.sha256", 0o664), rf"sha256 {ONLY}"),
    "a named pipe": (pipe, rf"{ONLY}of the user \d+, prw"),
    "no folder": (a_file, "kept"),
    "a full disk": (
        lambda patch, folder: (
            shutil.rmtree(folder),
            patch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=1000)),
        ),
        r"kept must have 0 MB free, it has 0",
    ),
    "a disk that fills": (
        lambda patch, folder: (
            shutil.rmtree(folder),
            patch.setattr(shared_weights, "save_file", no_space),
        ),
        "No space left on device",
    ),
}


@over("name", NOT_SHARED)
def test_weights_that_cannot_be_shared_are_told_of_and_nothing_half_made_is_left(
    name, folder, caplog
):
    set_up, words = NOT_SHARED[name]
    shutil.rmtree(folder) if folder.is_dir() else folder.unlink(missing_ok=True)
    assert Start(caplog).is_right
    files = {NAME, f"{NAME}.sha256"}
    with pytest.MonkeyPatch.context() as patch:
        set_up(patch, folder)
        start = Start(caplog)
    assert start.mapped is None
    (said,) = start.said
    assert re.search(r"weights of 0 MB are this process's own, not shared: .*" + words, said)
    assert not folder.is_dir() or {path.name for path in folder.iterdir()} <= files
    if name == "another's file":
        for uid in (0, 1002):  # root, and oneself
            with pytest.MonkeyPatch.context() as patch:
                owner(uid, 1002)(patch, folder)
                assert Start(caplog).is_right


def test_a_model_is_dequantised_once_and_then_mapped(tiny, folder, monkeypatch):
    file = tiny()
    plain = load_gguf(file, ABOUT).unembedding
    assert not folder.exists()  # a file of a few kB is not worth it
    monkeypatch.setattr(gguf_files, "WORTH_MAPPING", 0)
    assert torch.equal(load_gguf(file, ABOUT).unembedding, plain)
    assert len([*folder.iterdir()]) == 2
    monkeypatch.delattr(gguf, "dequantize")
    assert torch.equal(load_gguf(file, ABOUT).unembedding, plain)
