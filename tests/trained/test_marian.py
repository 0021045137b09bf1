"""Files of Marian's: read as they are, or refused in words."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch.testing import assert_close

from attention.trained.marian import SHORTLIST, MarianFile, Shortlist
from tests.cases import over
from tests.trained.files import written

TENSORS = {
    "W": (0x4101, (2, 3), bytes([1, 2, 3, 4, 5, 6]) + struct.pack("<f", 2.0) + b"\0" * 7),
    "b": (0x404, (1, 2), struct.pack("<2f", 0.5, -1.0) + b"\0" * 8),
    "special:model.yml": (0x101, (20,), b"dim-emb: 2\ntype: ''\0"),
}


def read(folder: Path, content: bytes) -> MarianFile:
    file = folder / "model.bin"
    file.write_bytes(content)
    return MarianFile(file)


def test_weights_come_as_the_file_has_them(tmp_path):
    weights = read(tmp_path, written(TENSORS))
    assert_close(weights.matrix("W", 2, 3), torch.tensor([[0.5, 1.5, 2.5], [1.0, 2.0, 3.0]]))
    assert_close(weights.table("W", 2, 3)[1:2], torch.tensor([[2.0, 2.5, 3.0]]))
    assert_close(weights.vector("b", 2), torch.tensor([0.5, -1.0]))
    assert weights.number("dim-emb") == 2


def test_weights_cut_anywhere_are_refused(tmp_path):
    whole = written(TENSORS)
    for length in range(len(whole)):
        with pytest.raises(ValueError, match=r"model.bin must be a whole file"):
            read(tmp_path, whole[:length])
    for content, words in (
        (whole + b"\0", r"must end at byte \d+, 1 bytes follow"),
        (struct.pack("<2Q", 2, 0), "must be of Marian's version 1, got 2"),
        (struct.pack("<2Q", 1, 2**63), "must be a whole file"),
        (written({}), "must have its settings"),
    ):
        with pytest.raises(ValueError, match=words):
            read(tmp_path, content)


REFUSED: dict[str, Callable[[MarianFile], object]] = {
    "must have a tensor 'V', it has none": lambda weights: weights.matrix("V", 2, 3),
    r"W must be \(3, 2\) of kind 0x4101": lambda weights: weights.matrix("W", 3, 2),
    r"W must be \(1, 3\) of kind 0x404": lambda weights: weights.vector("W", 3),
    "type must be a whole number": lambda weights: weights.number("type"),
    "must say skip, it does not": lambda weights: weights.setting("skip"),
}


@over("words", REFUSED)
def test_what_is_not_in_the_file_is_said(tmp_path, words):
    weights = read(tmp_path, written(TENSORS))
    with pytest.raises(ValueError, match=words):
        REFUSED[words](weights)


@over("multiplier", [0.0, -1.0, math.nan, math.inf])
def test_a_multiplier_that_nothing_can_be_divided_by_is_refused(tmp_path, multiplier):
    broken = TENSORS | {"W": (0x4101, (2, 3), b"\1" * 6 + struct.pack("<f", multiplier))}
    with pytest.raises(ValueError, match="must have a multiplier greater than 0"):
        read(tmp_path, written(broken)).matrix("W", 2, 3)


def shortlist(folder: Path, content: bytes, vocabulary: int = 12) -> Shortlist:
    file = folder / "lex.bin"
    file.write_bytes(content)
    return Shortlist(file, vocabulary)


def lists(offsets: list[int], targets: list[int], frequent: int = 3) -> bytes:
    header = struct.pack("<6Q", SHORTLIST, 0, frequent, 2, len(offsets), len(targets))
    return header + struct.pack(f"<{len(offsets)}Q{len(targets)}I", *offsets, *targets)


def candidates(found: Shortlist, *ids: int) -> list[int]:
    return found.candidates(torch.tensor(ids)).tolist()


def test_candidates_are_the_frequent_and_the_listed_up_to_a_multiple_of_8(tmp_path):
    found = shortlist(tmp_path, lists([0, 2, *[3] * 11], [11, 10, 9]))
    assert candidates(found, 0) == [0, 1, 2, 3, 4, 5, 10, 11]
    assert candidates(found, 1, 0, 0) == [0, 1, 2, 3, 4, 9, 10, 11]
    assert candidates(found, 5) == [0, 1, 2, 3, 4, 5, 6, 7]


def test_a_shortlist_that_is_not_whole_is_refused(tmp_path):
    whole = lists([0, 2, *[3] * 11], [11, 10, 9])
    for length in range(len(whole)):
        with pytest.raises(ValueError, match=r"lex.bin must be a whole file"):
            shortlist(tmp_path, whole[:length])
    for content, words in (
        (whole + b"\0", "must end at byte"),
        (b"\0" * 48, "must begin as a shortlist does, got 0x0"),
        (lists([0, 1, 1], [1]), "must be of 12 pieces, got 2"),
        (lists([0, 2, *[1] * 11], [1]), "must have offsets that rise from 0 to 1"),
        (lists([0, *[1] * 12], [12]), "must name pieces of 12"),
    ):
        with pytest.raises(ValueError, match=words):
            shortlist(tmp_path, content)
