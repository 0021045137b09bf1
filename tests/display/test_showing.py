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

from attention.core.functional import WeightsAlone
from attention.display import figures, showing
from attention.display.showing import (
    MAX_BYTES,
    MAX_TEXT,
    read_file,
    show,
    unpacked_bytes,
    write_npz,
)
from tests.lessons.making import drawn
from tests.properties import given, settings
from tests.properties import strategies as st

TOKENS, KEYS = ["the", "cat", "sat"], ["<b>", "cat", "", "sat", "😀"]
MUST_BE_WEIGHTS = "weights must be 0 or more, and each row must sum to 1"


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


WEIGHTS = npy(weights_of())
GOOD_TOKENS, GOOD_KEYS = npy(json.dumps(TOKENS)), npy(json.dumps(KEYS))
NPZ = npz(weights=WEIGHTS, tokens=GOOD_TOKENS, keys=GOOD_KEYS)
TEXT = json.dumps(TOKENS)
METADATA = {"tokens": json.dumps(TOKENS), "keys": json.dumps(KEYS)}
SAFETENSORS = save_safetensors({"weights": weights_of()}, METADATA)
SQUARE = {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]}
HALVES = struct.pack("<4f", *[0.5] * 4)


# Shown


@pytest.mark.parametrize("leading", [(), (1,), (1, 1)])
@pytest.mark.parametrize("kind", [Tensor, numpy.asarray, Tensor.tolist, Tensor.double])
def test_one_head_is_shown_as_its_heatmap(leading: tuple[int, ...], kind: Any) -> None:
    weights = weights_of(*leading)
    figure = show(kind(weights), TOKENS, keys=KEYS)
    alone = WeightsAlone(weights.reshape(3, 5))
    assert figure == figures.heatmap(alone, "weights", TOKENS, 0, KEYS)


@pytest.mark.parametrize(
    ("weights", "tokens", "keys", "message"),
    [
        (torch.ones(3), TOKENS, None, r"weights must be \(layers, heads, .*, got \(3,\)"),
        (torch.ones(1, 1, 1, 1, 3, 3), TOKENS, None, r"got \(1, 1, 1, 1, 3, 3\)"),
        (torch.eye(3), TOKENS[:2], None, r"\(…, 2, 2\), a row for each token, got .*3, 3\)"),
        (torch.eye(3), TOKENS, KEYS, r"\(…, 3, 5\), a row for each token, got .*3, 3\)"),
        (torch.eye(3), [], None, r"\(…, 0, 0\)"),
        (torch.ones(0, 0), [], None, r"\(…, 0, 0\)"),
        (torch.ones(0, 3, 3), TOKENS, None, r"a row for each token, got .*0, 3, 3\)"),
        (torch.eye(3) * math.nan, TOKENS, None, MUST_BE_WEIGHTS),
        (torch.eye(3) * math.inf, TOKENS, None, MUST_BE_WEIGHTS),
        (torch.eye(3) * 2 - 1 / 3, TOKENS, None, MUST_BE_WEIGHTS),
        (torch.eye(3) * 1.02, TOKENS, None, MUST_BE_WEIGHTS),
        (numpy.eye(3) * 1e300, TOKENS, None, MUST_BE_WEIGHTS),
        (torch.eye(3) + 0j, TOKENS, None, "weights must be numbers, got torch.complex64"),
        (numpy.eye(3) + 0j, TOKENS, None, "weights must be numbers, got complex128"),
        (numpy.eye(3) > 0, TOKENS, None, "weights must be numbers, got bool"),
        ([["1", "0"], ["0", "1"]], TOKENS[:2], None, "weights must be numbers, got <U1"),
        ([[1], [1, 0]], TOKENS[:2], None, "inhomogeneous"),
    ],
)
def test_what_are_no_weights_of_these_tokens_is_refused(
    weights: Any, tokens: list[str], keys: list[str] | None, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        show(weights, tokens, keys=keys)


@pytest.mark.parametrize("weights", [torch.eye(3) * 0.995, torch.eye(3) * 1.005, torch.zeros(3, 3)])
def test_rows_may_sum_to_1_as_far_as_half_precision_goes_or_be_all_0(weights: Tensor) -> None:
    assert not show(weights, TOKENS).layout.annotations


@pytest.mark.parametrize("leading", [(), (7,)])
def test_rows_with_a_sink_are_shown_with_what_they_sum_to(leading: tuple[int, ...]) -> None:
    weights = torch.full((*leading, 3, 5), 0.05)
    weights[..., 1, :] = torch.tensor([0.5, 0.25, 0.25, 0.0, 0.0])
    (below,) = show(weights, TOKENS, keys=KEYS).layout.annotations
    assert below.text == (
        "The sums of the rows go from 0.2500 to 1.0000: the rest goes to none of these keys, as to "
        "an attention sink."
    )


def test_of_many_heads_one_is_checked_and_shown_alone() -> None:
    weights = torch.full((40, 40, 3, 5), torch.nan)
    weights[37, 38] = weights_of()
    shown = show(weights, TOKENS, layer=37, head=38, keys=KEYS)
    assert shown == show(weights[37, 38], TOKENS, keys=KEYS)
    with pytest.raises(ValueError, match=MUST_BE_WEIGHTS):
        show(weights, TOKENS, layer="all", keys=KEYS)
    whole = show(weights_of(40, 40), TOKENS, layer="all", keys=KEYS)
    assert len(whole.layout.yaxis.tickvals) == 20


def test_a_head_of_an_image_is_shown_whole_and_a_longer_one_in_blocks_of_its_greatest() -> None:
    tokens = [f"patch {at}" for at in range(577)]
    (cells, *_) = show(torch.eye(577), tokens).data
    assert cells.z.shape == (577, 577)
    figure = show(torch.eye(1201), [*tokens, *tokens, *tokens[:47]])
    assert max(figure.data[0].z.shape) <= 600
    assert "the greatest of 3 × 3 weights" in figure.layout.title.text
    assert len(figure.to_json()) < 10_000_000


@pytest.mark.parametrize(
    "wrong",
    [{"layer": 2}, {"head": 7}, {"layer": -1}, {"head": -1}, {"head": 0, "query": 3}],
)
def test_a_head_or_query_that_is_not_there_is_refused(wrong: dict[str, int]) -> None:
    words = "layer, head and query must lie below 2, 7 and 3, got "
    with pytest.raises(ValueError, match=words):
        show([*weights_of(2, 7)], TOKENS, keys=KEYS, **wrong)


def test_tokens_are_never_interpreted_by_the_picture() -> None:
    shown = show(weights_of(), TOKENS, keys=KEYS).to_json()
    assert "&lt;b" in shown
    assert "<b>cat" not in shown


# Read


@pytest.mark.parametrize("leading", [(), (7,), (2, 7)])
@pytest.mark.parametrize("save", [numpy.savez, numpy.savez_compressed])
def test_an_npz_is_read_as_it_was_written(leading: tuple[int, ...], save: Any) -> None:
    weights = weights_of(*leading)
    content = saved(save, weights=weights, tokens=json.dumps(TOKENS), keys=json.dumps(KEYS))
    read = read_file(content)
    assert (read.tokens, read.keys) == (TOKENS, KEYS)
    assert torch.equal(read.numbers, weights.reshape((1, 1, *weights.shape)[-4:]))
    square = saved(save, weights=torch.eye(3), tokens=json.dumps(TOKENS), others=numpy.ones(2))
    assert (read_file(square).tokens, read_file(square).keys) == (TOKENS, None)


@pytest.mark.parametrize("kind", ["u1", "i1", "f2", ">f2", "f4", ">f4", "f8", "g", "u2", "i8"])
@pytest.mark.parametrize("save", [numpy.savez, numpy.savez_compressed])
def test_weights_of_an_npz_take_no_more_than_in_the_file_and_at_most_float32(
    kind: str, save: Any
) -> None:
    weights = numpy.eye(3).astype(kind)
    content = saved(save, weights=weights, tokens=numpy.array(TOKENS))
    read = read_file(content)
    assert read.numbers.itemsize <= min(4, weights.itemsize)
    assert read.numbers.nbytes < unpacked_bytes(content)
    assert read.trace(0, 0).weights.equal(torch.eye(3))


SAFE_TYPES = (
    *(torch.uint8, torch.int8, torch.bool, torch.int16, torch.int64, torch.float8_e4m3fn),
    *(torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.uint16),
)


@pytest.mark.parametrize("kind", SAFE_TYPES)
def test_weights_of_a_safetensors_take_no_more_than_in_the_file_and_at_most_float32(
    kind: torch.dtype,
) -> None:
    content = save_safetensors({"weights": torch.eye(3).to(kind)}, METADATA | {"keys": TEXT})
    read = read_file(content)
    assert read.numbers.itemsize <= min(4, kind.itemsize)
    assert read.trace(0, 0).weights.equal(torch.eye(3))


@pytest.mark.parametrize("leading", [(), (7,), (2, 7)])
def test_a_safetensors_is_read_as_it_was_written(leading: tuple[int, ...]) -> None:
    weights = weights_of(*leading)
    content = save_safetensors({"weights": weights, "others": torch.ones(2)}, METADATA)
    read = read_file(content)
    assert (read.tokens, read.keys) == (TOKENS, KEYS)
    assert torch.equal(read.numbers, weights.reshape((1, 1, *weights.shape)[-4:]))
    half = save_safetensors({"weights": weights.half()}, METADATA)
    assert_close(read_file(half).numbers.float(), read.numbers, atol=1e-3, rtol=0)


def test_what_is_written_is_read_again() -> None:
    weights = drawn(2, 7, 3, 3).softmax(-1)
    read = read_file(write_npz(weights, TOKENS))
    assert torch.equal(read.numbers, weights)
    assert (read.tokens, read.keys) == (TOKENS, None)


def test_tokens_of_a_file_can_always_be_written() -> None:
    content = npz(weights=npy(torch.eye(1)), tokens=npy(json.dumps(["a \ud800 b"])))
    assert read_file(content).tokens == ["a ? b"]


def test_one_query_can_be_taken_out_of_weights() -> None:
    weights, mask = weights_of(2), torch.ones(2, 3, 5) > 0
    one = WeightsAlone(weights, mask).query(1)
    assert torch.equal(one.weights, weights[:, 1:2])
    assert one.mask is not None
    assert one.mask.shape == (2, 1, 5)
    assert set(one.stages) == {"weights"}


class Dangerous:
    """Object that runs something as it is unpickled."""

    def __reduce__(self) -> Any:
        return Path("pickled").touch, ()


def test_a_pickle_is_never_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in showing.PARTS:
        parts = {"weights": WEIGHTS, "tokens": GOOD_TOKENS, "keys": GOOD_KEYS}
        content = npz(**parts | {name: npy([Dangerous()])})
        with pytest.raises(ValueError, match="numbers and texts: Object arrays cannot"):
            read_file(content)
    with pytest.raises(ValueError, match=r"must be \.npz or \.safetensors"):
        read_file(npy([Dangerous()]))
    assert not [*tmp_path.iterdir()]


def test_a_file_that_would_grow_beyond_the_bound_is_refused_before_it_is_unpacked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bomb = npz(zipfile.ZIP_DEFLATED, weights=npy(numpy.zeros(40 << 20, numpy.uint8)))
    assert len(bomb) < MAX_BYTES / 100
    monkeypatch.setattr(numpy, "load", lambda *_, **__: pytest.fail("it was unpacked"))
    with pytest.raises(ValueError, match=r"up to 16 MB unpacked, it would take 40\.0"):
        read_file(bomb)


@pytest.mark.parametrize("shape", [(513, 513), (1025, 1, 1), (5, 205, 1, 1)])
def test_a_file_of_too_many_tokens_or_heads_is_refused(shape: tuple[int, ...]) -> None:
    weights = torch.ones(shape).softmax(-1)
    content = saved(numpy.savez, weights=weights, tokens=json.dumps(["x"] * shape[-1]))
    got = f"got {shape[-1]} and {math.prod(shape[:-2])}"
    with pytest.raises(ValueError, match=f"up to 512 tokens and 1024 heads in all, {got}"):
        read_file(content)


def test_a_file_that_is_too_large_is_refused() -> None:
    with pytest.raises(ValueError, match="the file may have up to 16 MB"):
        read_file(b"PK" + bytes(MAX_BYTES))


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(npz(**{f"a{n}": b"" for n in range(1001)}), id="npz of many arrays"),
        pytest.param(tensors_of({"__metadata__": {"a": "x" * MAX_TEXT}}), id="a long header"),
    ],
)
def test_a_file_of_too_many_parts_is_refused_before_they_are_looked_at(
    content: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module, name in ((showing, "load_safetensors"), (zipfile, "ZipFile")):
        monkeypatch.setattr(module, name, lambda *_, **__: pytest.fail("it was looked at"))
    with pytest.raises(ValueError, match=r"must have up to 1,0"):
        read_file(content)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"PK", id="two bytes"),
        pytest.param(b"PK\x03\x04" + bytes(60), id="zeros"),
        pytest.param(b"GIF89a" + bytes(60), id="a picture"),
        pytest.param(NPZ[:-30], id="npz cut short"),
        pytest.param(NPZ[:200], id="the begin of an npz"),
        pytest.param(SAFETENSORS[:-1], id="safetensors cut short"),
        pytest.param(SAFETENSORS[:20], id="the begin of a safetensors"),
        pytest.param(npz(), id="nothing in it"),
        pytest.param(npz(tokens=GOOD_TOKENS), id="no weights"),
        pytest.param(npz(weights=npy(torch.eye(3))), id="no tokens"),
        pytest.param(npz(weights=b"hello", tokens=GOOD_TOKENS), id="weights no array"),
        pytest.param(npz(weights=b"", tokens=GOOD_TOKENS), id="weights empty"),
        pytest.param(npz(weights=WEIGHTS[:-1], tokens=GOOD_TOKENS), id="weights cut short"),
        pytest.param(npz(weights=WEIGHTS, tokens=b'["a"]'), id="tokens no array"),
        pytest.param(npz(weights=WEIGHTS, tokens=npy(b'["a"]')), id="tokens bytes"),
        pytest.param(npz(weights=WEIGHTS, tokens=npy([TOKENS])), id="tokens a row of texts"),
        pytest.param(npz(weights=WEIGHTS, tokens=npy(["x"] * 600_000)), id="tokens too many"),
        pytest.param(npz(weights=WEIGHTS, tokens=npy(7)), id="tokens a number"),
        pytest.param(npz(weights=WEIGHTS, tokens=npy("the cat sat")), id="tokens no JSON"),
        pytest.param(npz(weights=WEIGHTS, tokens=npy('{"a": 1}')), id="tokens no list"),
        pytest.param(npz(weights=WEIGHTS, tokens=npy('["a", 1, "b"]')), id="tokens not texts"),
        pytest.param(npz(weights=WEIGHTS, tokens=npy("[" * 99999)), id="tokens nested deeply"),
        pytest.param(npz(weights=WEIGHTS, tokens=npy("9" * 9999)), id="tokens a long number"),
        pytest.param(npz(weights=npy(TOKENS), tokens=GOOD_TOKENS), id="weights texts"),
        pytest.param(npz(weights=npy(torch.eye(3) + 0j), tokens=GOOD_TOKENS), id="weights complex"),
        pytest.param(npz(weights=npy_of("("), tokens=GOOD_TOKENS), id="header open"),
        pytest.param(npz(weights=npy_of("[" * 5000), tokens=GOOD_TOKENS), id="header nested"),
        pytest.param(npz(weights=npy_of("-" * 9000 + "1"), tokens=GOOD_TOKENS), id="header signs"),
        pytest.param(npz(weights=npy_of("{'descr': '''"), tokens=GOOD_TOKENS), id="header quoted"),
        *(
            pytest.param(
                npz(
                    weights=npy_of(f"{{'descr':'<f4','fortran_order':False,'shape':{shape}}}"),
                    tokens=GOOD_TOKENS,
                ),
                id=f"shape {shape}",
            )
            for shape in ("(100000000, 100000000)", f"({10**30},)", "(-3, 3)", "(3, 3)", "3")
        ),
        pytest.param(tensors_of({"weights": SQUARE}, HALVES), id="no metadata"),
        pytest.param(tensors_of({"__metadata__": None, "weights": SQUARE}, HALVES), id="null"),
        pytest.param(
            tensors_of({"__metadata__": {"tokens": "[" * 99999}, "weights": SQUARE}, HALVES),
            id="metadata nested deeply",
        ),
        pytest.param(
            tensors_of(
                {"__metadata__": METADATA, "weights": SQUARE | {"dtype": "C64"}}, HALVES * 2
            ),
            id="safetensors complex",
        ),
        pytest.param(tensors_of(b"[" * 99999), id="safetensors nested deeply"),
        pytest.param(tensors_of(b'{"\xff"}'), id="safetensors no text"),
        pytest.param(struct.pack("<Q", 1 << 62) + bytes(60), id="safetensors of many bytes"),
    ],
)
def test_a_file_that_is_not_what_it_should_be_is_refused_in_words(content: bytes) -> None:
    with pytest.raises(ValueError, match=r"\bmust\b") as refused:
        read_file(content)
    assert len(str(refused.value)) < 270


@pytest.mark.parametrize("method", [1, 12, 14, 93, 99])
def test_an_npz_that_is_packed_in_no_way_that_numpy_packs_is_refused(method: int) -> None:
    content = bytearray(NPZ)
    for mark, offset in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        at = content.find(mark)
        while at >= 0:
            struct.pack_into("<H", content, at + offset, method)
            at = content.find(mark, at + 4)
    with pytest.raises(ValueError, match=r"the file must be an \.npz of numbers and texts"):
        read_file(bytes(content))


changes = st.lists(st.tuples(st.integers(0, 5000), st.integers(0, 255)), min_size=1, max_size=7)


@pytest.mark.parametrize("whole", [NPZ, SAFETENSORS], ids=["npz", "safetensors"])
@given(changes=changes, end=st.none() | st.integers(0, 5000))
@settings(max_examples=150)
def test_whatever_bytes_are_wrong_it_is_read_or_refused(
    whole: bytes, changes: list[tuple[int, int]], end: int | None
) -> None:
    content = bytearray(whole)
    for offset, byte in changes:
        content[offset % len(content)] = byte
    try:
        read = read_file(bytes(content[:end]))
    except ValueError:
        return
    assert read.numbers.shape[2:] == (len(read.tokens), len(read.keys or read.tokens))
    assert (read.numbers >= 0).all()
