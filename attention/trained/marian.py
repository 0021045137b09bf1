"""Marian's files -> tensors: its binary format of weights, and its shortlists. Data, never code.

Junczys-Dowmunt et al. 2018, Marian; the weights here are of 8 bits, as intgemm multiplies them.
All numbers are little-endian.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

VERSION = 1
FLOATS, BYTES, QUANTISED = 0x404, 0x101, 0x4101  # kinds of tensors
SETTINGS = "special:model.yml"
SHORTLIST = 0xF11A48D5013417F5  # what a shortlist begins with
MULTIPLE = 8  # candidates are filled up to a multiple of it


@dataclass(frozen=True, eq=False)
class Quantised:
    """A matrix of whole numbers of 8 bits, `multiplier` times what they stand for.

    numbers (rows, columns), int8.
    """

    numbers: Tensor
    multiplier: float

    def __getitem__(self, ids: Tensor | slice) -> Tensor:
        """Some rows as float32. (rows, columns)."""
        return self.numbers[ids].to(torch.float32) / self.multiplier

    def __len__(self) -> int:
        return len(self.numbers)


class MarianFile:
    """The tensors of a file of Marian's, and the settings it was trained with.

    Raises ValueError unless the file is a whole one.
    """

    def __init__(self, file: Path) -> None:
        content = _Content(file)
        (version,) = content.whole(1)
        if version != VERSION:
            raise ValueError(f"{file.name} must be of Marian's version {VERSION}, got {version}")
        (count,) = content.whole(1)
        content.check(count * 32)
        headers = [content.whole(4) for _ in range(count)]
        names = [content.text(length).rstrip("\0") for length, _, _, _ in headers]
        shapes = [content.numbers("i", length) for _, _, length, _ in headers]
        content.take(*content.whole(1))
        self._found: dict[str, tuple[int, tuple[int, ...], bytes]] = {}
        for name, shape, (_, kind, _, length) in zip(names, shapes, headers, strict=True):
            self._found[name] = kind, shape, content.take(length)
        content.check_end()
        self._name = file.name
        self.settings = self._read_settings()

    def __contains__(self, name: str) -> bool:
        return name in self._found

    def setting(self, name: str) -> str:
        """One setting as it is written. Raises ValueError where there is none."""
        if name not in self.settings:
            raise ValueError(f"{self._name} must say {name}, it does not")
        return self.settings[name]

    def number(self, name: str) -> int:
        """One setting, a whole number of at least 1. Raises ValueError where it is none."""
        found = self.setting(name)
        if not found.isdecimal() or int(found) < 1:
            raise ValueError(f"{name} must be a whole number of at least 1, got {found!r}")
        return int(found)

    def vector(self, name: str, width: int) -> Tensor:
        """A row of float32. (width,). Raises ValueError unless it is there, as all below."""
        data = self._data(name, FLOATS, (1, width), 4 * width)
        return torch.frombuffer(bytearray(data), dtype=torch.float32)

    def matrix(self, name: str, d_in: int, d_out: int) -> Tensor:
        """The matrix of a linear map as float32. (d_in, d_out).

        The file has it transposed, as products of 8 bits read it; so it is in memory.
        """
        return self._quantised(name, (d_in, d_out), (d_out, d_in))[:].T

    def table(self, name: str, rows: int, columns: int) -> Quantised:
        """A matrix whose rows are looked up, as it is stored. (rows, columns)."""
        return self._quantised(name, (rows, columns), (rows, columns))

    def _quantised(self, name: str, shape: tuple[int, int], stored: tuple[int, int]) -> Quantised:
        size = math.prod(shape)
        data = self._data(name, QUANTISED, shape, size + 4)
        (multiplier,) = struct.unpack_from("<f", data, size)
        if not (math.isfinite(multiplier) and multiplier > 0):
            raise ValueError(f"{name} must have a multiplier greater than 0, got {multiplier}")
        numbers = torch.frombuffer(bytearray(data[:size]), dtype=torch.int8)
        return Quantised(numbers.reshape(stored), multiplier)

    def _data(self, name: str, kind: int, shape: tuple[int, int], least: int) -> bytes:
        if name not in self:
            raise ValueError(f"{self._name} must have a tensor {name!r}, it has none")
        found_kind, found_shape, data = self._found[name]
        if (found_kind, found_shape) != (kind, shape):
            raise ValueError(
                f"{name} must be {shape} of kind {kind:#x}, got {found_shape} of {found_kind:#x}"
            )
        if len(data) < least:
            raise ValueError(f"{name} must have {least} bytes at the least, got {len(data)}")
        return data[: least if kind == FLOATS else None]

    def _read_settings(self) -> dict[str, str]:
        kind, _, data = self._found.get(SETTINGS, (None, (), b""))
        if kind != BYTES:
            raise ValueError(f"{self._name} must have its settings, {SETTINGS}, it has none")
        lines = data.decode("utf-8", "replace").rstrip("\0").splitlines()
        pairs = (line.partition(":") for line in lines if not line.startswith(" "))
        return {key: value.strip().strip('"') for key, _, value in pairs}


class Shortlist:
    """Pieces that a translation may be made of (Jean et al. 2015, section 3.3).

    Those that are frequent, and for each piece of the source those it is often translated by.
    vocabulary: how many pieces there are. Raises ValueError unless the file is a whole one.
    """

    def __init__(self, file: Path, vocabulary: int) -> None:
        content = _Content(file)
        magic, _, self.frequent, _, n_offsets, n_targets = content.whole(6)
        if magic != SHORTLIST:
            raise ValueError(f"{file.name} must begin as a shortlist does, got {magic:#x}")
        if n_offsets != vocabulary + 1 or self.frequent > vocabulary:
            raise ValueError(
                f"{file.name} must be of {vocabulary} pieces, "
                f"got {n_offsets - 1}, {self.frequent} of them frequent"
            )
        self._offsets = content.tensor(torch.int64, n_offsets)
        self._targets = content.tensor(torch.int32, n_targets)
        content.check_end()
        steps = self._offsets.diff()
        if self._offsets[0] != 0 or self._offsets[-1] != n_targets or (steps < 0).any():
            raise ValueError(f"{file.name} must have offsets that rise from 0 to {n_targets}")
        if ((self._targets < 0) | (self._targets >= vocabulary)).any():
            raise ValueError(f"{file.name} must name pieces of {vocabulary}, it names others")
        self.vocabulary = vocabulary

    def candidates(self, ids: Tensor) -> Tensor:
        """The pieces that a translation of these may be made of, sorted.

        Filled up with the next frequent ones to a multiple of 8, as Marian does.
        ids (pieces,). Returns (candidates,).
        """
        found = torch.zeros(self.vocabulary, dtype=torch.bool)
        found[: self.frequent] = True
        for piece in ids.unique().tolist():
            start, end = self._offsets[piece : piece + 2].tolist()
            found[self._targets[start:end].to(torch.int64)] = True
        missing = -int(found.sum()) % MULTIPLE
        found[(~found).nonzero()[:missing, 0]] = True
        return found.nonzero()[:, 0]


class _Content:
    """The bytes of a file, taken one after the other; ValueError where they do not reach."""

    def __init__(self, file: Path) -> None:
        try:
            self._bytes = file.read_bytes()
        except OSError as error:
            raise ValueError(f"{file.name} cannot be read: {error.strerror}") from error
        self._name, self._at = file.name, 0

    def check(self, size: int) -> None:
        left = len(self._bytes) - self._at
        if size > left:
            raise ValueError(
                f"{self._name} must be a whole file: {size} bytes were expected "
                f"from byte {self._at} on, got {left}"
            )

    def check_end(self) -> None:
        left = len(self._bytes) - self._at
        if left:
            raise ValueError(f"{self._name} must end at byte {self._at}, {left} bytes follow")

    def take(self, size: int) -> bytes:
        self.check(size)
        self._at += size
        return self._bytes[self._at - size : self._at]

    def numbers(self, kind: str, count: int) -> tuple[int, ...]:
        found = self.take(struct.calcsize(f"<{kind}") * count)
        return struct.unpack(f"<{count}{kind}", found)

    def whole(self, count: int) -> Sequence[int]:
        return self.numbers("Q", count)

    def text(self, size: int) -> str:
        return self.take(size).decode("utf-8", "replace")

    def tensor(self, kind: torch.dtype, count: int) -> Tensor:
        data = self.take(kind.itemsize * count)
        return torch.frombuffer(bytearray(data), dtype=kind) if data else torch.empty(0, dtype=kind)
