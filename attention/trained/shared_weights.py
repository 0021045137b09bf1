"""Dequantised weights in a file that processes map and share; a digest beside it says it is whole.

Each start reads the file once, to compare it with its digest (SHA-256, as `sha256sum -c` reads it):
0.3 s for 540 MB. This guards against files that were cut, zeroed or changed between starts, and, as
only files are used that oneself or root can write, against other users of the machine. It does not
guard against root, or against a change while a process has the file mapped.
"""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import stat
import sys
import uuid
from collections.abc import Callable, Mapping
from io import BufferedReader
from pathlib import Path

from safetensors import SafetensorError
from safetensors.torch import save_file
from torch import Tensor

from attention.trained.checkpoints import Checkpoint

WEIGHTS_VARIABLE = "ATTENTION_WEIGHTS"
READABLE = 0o644  # by all, so that users of one machine can share what root has written
LOG = logging.getLogger(__name__)


def map_shared(
    name: str, nbytes: int, make: Callable[[], Mapping[str, Tensor]]
) -> Checkpoint | None:
    """Tensors mapped from the file of that name, which is made where it is missing or not whole.

    It lies in the folder that ATTENTION_WEIGHTS names, else in `~/.cache/attention-explorer`.
    nbytes: of all tensors, which `make` gives. None where no file can be used, as in a folder that
    is full or may only be read. What was not whole, and why nothing is shared, is logged.
    """
    try:
        named = os.environ.get(WEIGHTS_VARIABLE)
        file = Path(named or Path.home() / ".cache" / "attention-explorer") / name
        try:
            return _mapped(file)
        except FileNotFoundError:
            if file.is_file():
                LOG.warning("%s has no digest beside it: both are made anew", file)
        except ValueError as error:
            LOG.warning("%s: it is made anew", error)
        _write(file, nbytes, make)
        return _mapped(file)
    except (OSError, RuntimeError, ValueError, SafetensorError) as error:  # Runtime: no home
        LOG.warning("weights of %d MB are this process's own, not shared: %s", nbytes / 1e6, error)
        return None


def _mapped(file: Path) -> Checkpoint:
    """The tensors of a file that is whole.

    Raises FileNotFoundError without the file or its digest, PermissionError where others can write
    one of them, ValueError where the file is another than its digest says.
    """
    with _opened(file) as opened, _opened(_digest_of(file)) as beside:
        expected, found = beside.read(1000).decode("utf-8", "replace"), _digest(opened, file)
        if found != expected:
            raise ValueError(
                f"{file} must have the SHA-256 of its digest, {expected[:12]!r}…, "
                f"got {found[:12]!r}…"
            )
        same = Path(f"/dev/fd/{opened.fileno()}")  # what was read, whatever the name leads to now
        return Checkpoint([same if same.exists() else file])


def _opened(file: Path) -> BufferedReader:
    """A file to read. Raises PermissionError where others than oneself and root can write it."""
    wait_for_nobody = getattr(os, "O_NONBLOCK", 0)  # as a named pipe of another user's would
    opened = open(file, "rb", opener=lambda path, flags: os.open(path, flags | wait_for_nobody))  # noqa: SIM115
    about = os.fstat(opened.fileno())
    safe = stat.S_ISREG(about.st_mode)
    if sys.platform != "win32":  # where a home is its user's alone
        others = about.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
        safe = safe and about.st_uid in (0, os.geteuid()) and not others
    if not safe:
        opened.close()
        raise PermissionError(
            f"{file} must be a file that only oneself or root can write, it is of the user "
            f"{about.st_uid}, {stat.filemode(about.st_mode)}"
        )
    return opened


def _write(file: Path, nbytes: int, make: Callable[[], Mapping[str, Tensor]]) -> None:
    """Write all tensors, and first the digest; each is there once it is whole."""
    file.parent.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(file.parent).free
    if free < 2 * nbytes:
        raise OSError(
            f"{file.parent} must have {2 * nbytes / 1e6:,.0f} MB free, it has {free / 1e6:,.0f}"
        )
    digest = _digest_of(file)
    unique = uuid.uuid4().hex
    made, made_digest = (each.with_name(f"{each.name}.{unique}") for each in (file, digest))
    try:
        save_file({**make()}, made)
        with made.open("rb") as opened:
            made_digest.write_text(_digest(opened, file), "utf-8")
        for one, place in ((made_digest, digest), (made, file)):
            one.chmod(READABLE)
            one.replace(place)
    finally:
        for one in (made, made_digest):
            one.unlink(missing_ok=True)


def _digest_of(file: Path) -> Path:
    return file.with_name(f"{file.name}.sha256")


def _digest(opened: BufferedReader, file: Path) -> str:
    """The line of a digest: it is for a file of this name alone."""
    return f"{hashlib.file_digest(opened, 'sha256').hexdigest()}  {file.name}\n"
