"""Weights from anywhere: shown as the app does, and read from files that may be anything."""

from __future__ import annotations

import io
import json
import math
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch
from safetensors.torch import save as save_safetensors
from torch import Tensor
from torch.testing import assert_close

from attention.subjects.long_run import own_weights
from attention.subjects.long_run.own_weights import MAX_BYTES, MAX_TEXT, read_file, unpacked_bytes
from tests.cases import over
from tests.properties import given, settings
from tests.properties import strategies as st
from tests.subjects.explore.how.making import drawn

TOKENS, KEYS = ["the", "cat", "sat"], ["<b>", "cat", "", "sat", "😀"]
LEADING: tuple[tuple[int, ...], ...] = ((), (7,), (2, 7))
SAVES = (numpy.savez, numpy.savez_compressed)


EYE = torch.eye(3)


def weights_of(*leading: int) -> Tensor:
    """Weights of three queries over five keys."""
    return drawn(*leading, 3, 5).softmax(-1)


def npy(array: Any) -> bytes:
    """An array as .npy, objects too."""
    file = io.BytesIO()
    numpy.save(file, numpy.asarray(array), allow_pickle=True)
    return file.getvalue()


def npy_of(header: str, data: bytes = b"") -> bytes:
    """A .npy that says of itself what it wants."""
    text = header.encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + data


def npz(method: int = zipfile.ZIP_STORED, **members: bytes) -> bytes:
    """An .npz of such members."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return file.getvalue()


def saved(save: Any, **arrays: Any) -> bytes:
    """An .npz as numpy writes it."""
    file = io.BytesIO()
    save(file, **arrays)
    return file.getvalue()


def tensors_of(header: object, data: bytes = b"") -> bytes:
    """A .safetensors that says of itself what it wants."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


TEXT = json.dumps(TOKENS)
METADATA = {"tokens": TEXT, "keys": json.dumps(KEYS)}
WEIGHTS, GOOD = npy(weights_of()), npy(TEXT)
PARTS = {"weights": WEIGHTS, "tokens": GOOD, "keys": npy(METADATA["keys"])}
NPZ = npz(**PARTS)
SAFETENSORS = save_safetensors({"weights": weights_of()}, METADATA)


@over("leading", LEADING)
def test_a_file_is_read_as_it_was_written(leading):
    weights = weights_of(*leading)
    arrays = {"weights": weights, "others": torch.ones(2)}
    contents = [saved(save, **arrays, **METADATA) for save in SAVES]
    for content in (*contents, save_safetensors(arrays, METADATA)):
        read = read_file(content)
        assert (read.tokens, read.keys) == (TOKENS, KEYS)
        assert torch.equal(read.numbers, weights.reshape((1, 1, *weights.shape)[-4:]))
    lone = npz(weights=npy(torch.eye(1)), tokens=npy(json.dumps(["a \ud800 b"])))
    assert read_file(lone).tokens == ["a ? b"], "can always be written"


KINDS = ("u1", "i1", "f2", ">f2", "f4", ">f4", "f8", "g", "u2", "i8")
SAFE_KINDS = (
    *(torch.uint8, torch.int8, torch.bool, torch.int16, torch.int64, torch.float8_e4m3fn),
    *(torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.uint16),
)


def test_weights_of_a_file_take_no_more_than_in_the_file_and_at_most_float32():
    for kind in KINDS:
        for save in SAVES:
            weights = numpy.eye(3).astype(kind)
            content = saved(save, weights=weights, tokens=numpy.array(TOKENS))
            read = read_file(content)
            assert read.numbers.itemsize <= min(4, weights.itemsize), kind
            assert read.numbers.nbytes < unpacked_bytes(content)
            assert read.trace(0, 0).weights.equal(EYE)
    for safe in SAFE_KINDS:
        read = read_file(save_safetensors({"weights": EYE.to(safe)}, METADATA | {"keys": TEXT}))
        assert read.numbers.itemsize <= min(4, safe.itemsize), safe
        assert read.trace(0, 0).weights.equal(EYE)
    half = read_file(save_safetensors({"weights": weights_of().half()}, METADATA))
    assert_close(half.numbers[0, 0].float(), weights_of(), atol=1e-3, rtol=0)


class Dangerous:
    """Object that runs something as it is unpickled."""

    def __reduce__(self) -> Any:
        return Path("pickled").touch, ()


def test_a_pickle_is_never_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in own_weights.PARTS:
        with pytest.raises(ValueError, match="numbers and texts: Object arrays cannot"):
            read_file(npz(**PARTS | {name: npy([Dangerous()])}))
    with pytest.raises(ValueError, match=r"must be \.npz or \.safetensors"):
        read_file(npy([Dangerous()]))
    assert not [*tmp_path.iterdir()]


def test_a_file_of_too_much_is_refused_before_it_is_unpacked_or_looked_at(monkeypatch):
    for shape in ((513, 513), (1025, 1, 1), (5, 205, 1, 1)):
        weights, tokens = torch.ones(shape).softmax(-1), json.dumps(["x"] * shape[-1])
        got = f"got {shape[-1]} and {math.prod(shape[:-2])}"
        with pytest.raises(ValueError, match=f"up to 512 tokens and 1024 heads in all, {got}"):
            read_file(saved(numpy.savez, weights=weights, tokens=tokens))
    bomb = npz(zipfile.ZIP_DEFLATED, weights=npy(numpy.zeros(40 << 20, numpy.uint8)))
    many, long = npz(**{f"a{n}": b"" for n in range(1001)}), {"__metadata__": {"a": "x" * MAX_TEXT}}
    assert len(bomb) < MAX_BYTES / 100
    monkeypatch.setattr(numpy, "load", lambda *_, **__: pytest.fail("it was unpacked"))
    with pytest.raises(ValueError, match=r"up to 16 MB unpacked, it would take 40\.0"):
        read_file(bomb)
    with pytest.raises(ValueError, match="the file may have up to 16 MB"):
        read_file(b"PK" + bytes(MAX_BYTES))
    for module, name in ((own_weights, "load_safetensors"), (zipfile, "ZipFile")):
        monkeypatch.setattr(module, name, lambda *_, **__: pytest.fail("it was looked at"))
    for content in (many, tensors_of(long)):
        with pytest.raises(ValueError, match=r"must have up to 1,0"):
            read_file(content)


SQUARE = {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]}
HALVES = struct.pack("<4f", *[0.5] * 4)
DEEP = {"tokens": "[" * 99999}
COMPLEX = {"__metadata__": METADATA, "weights": SQUARE | {"dtype": "C64"}}
SHAPES = ("(100000000, 100000000)", f"({10**30},)", "(-3, 3)", "(3, 3)", "3")
NO_WEIGHTS_OF_A_FILE = {
    "texts": npy(TOKENS),
    "complex": npy(EYE + 0j),
    "no array": b"hello",
    "empty": b"",
    "cut short": WEIGHTS[:-1],
    "header open": npy_of("("),
    "header nested": npy_of("[" * 5000),
    "header signs": npy_of("-" * 9000 + "1"),
    "header quoted": npy_of("{'descr': '''"),
    **{
        f"shape {shape}": npy_of(f"{{'descr':'<f4','fortran_order':False,'shape':{shape}}}")
        for shape in SHAPES
    },
}
NO_TOKENS: dict[str, Any] = {
    **{"bytes": b'["a"]', "a row of texts": [TOKENS], "too many": ["x"] * 600_000, "a number": 7},
    **{"no JSON": "the cat sat", "no list": '{"a": 1}', "not texts": '["a", 1, "b"]'},
    **{"nested deeply": "[" * 99999, "a long number": "9" * 9999},
}
NO_FILE = {
    **{"nothing": b"", "two bytes": b"PK", "zeros": b"PK\x03\x04" + bytes(60)},
    **{"a picture": b"GIF89a" + bytes(60), "npz cut short": NPZ[:-30], "a begin": NPZ[:200]},
    **{"safetensors cut short": SAFETENSORS[:-1], "its begin": SAFETENSORS[:20]},
    **{"nothing in it": npz(), "no weights": npz(tokens=GOOD), "no tokens": npz(weights=npy(EYE))},
    **{name: npz(weights=bad, tokens=GOOD) for name, bad in NO_WEIGHTS_OF_A_FILE.items()},
    **{f"tokens {name}": npz(weights=WEIGHTS, tokens=npy(bad)) for name, bad in NO_TOKENS.items()},
    "tokens no array": npz(weights=WEIGHTS, tokens=b'["a"]'),
    "no metadata": tensors_of({"weights": SQUARE}, HALVES),
    "null": tensors_of({"__metadata__": None, "weights": SQUARE}, HALVES),
    "metadata nested deeply": tensors_of({"__metadata__": DEEP, "weights": SQUARE}, HALVES),
    "safetensors complex": tensors_of(COMPLEX, HALVES * 2),
    "safetensors nested deeply": tensors_of(b"[" * 99999),
    "safetensors no text": tensors_of(b'{"\xff"}'),
    "safetensors of many bytes": struct.pack("<Q", 1 << 62) + bytes(60),
}


@over("name", NO_FILE)
def test_a_file_that_is_not_what_it_should_be_is_refused_in_words(name):
    with pytest.raises(ValueError, match=r"\bmust\b") as refused:
        read_file(NO_FILE[name])
    assert len(str(refused.value)) < 270


changes = st.lists(st.tuples(st.integers(0, 5000), st.integers(0, 255)), min_size=1, max_size=7)


@pytest.mark.parametrize("whole", [NPZ, SAFETENSORS], ids=["npz", "safetensors"])
@given(changes=changes, end=st.none() | st.integers(0, 5000))
@settings(max_examples=150)
def test_whatever_bytes_are_wrong_it_is_read_or_refused(whole, changes, end):
    content = bytearray(whole)
    for offset, byte in changes:
        content[offset % len(content)] = byte
    try:
        read = read_file(bytes(content[:end]))
    except ValueError:
        return
    assert read.numbers.shape[2:] == (len(read.tokens), len(read.keys or read.tokens))
    assert (read.numbers >= 0).all()
