"""Weights, or a run, read from a small file that may be anything."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any, ClassVar

import numpy
import torch
from safetensors import SafetensorError
from safetensors.torch import load as load_safetensors
from torch import Tensor

from attention.analysis.heads import Keys, Rows, in_blocks
from attention.analysis.opened_run import OpenedRun, opened_run
from attention.analysis.returned_weights import check_numbers, fit_weights, tensor_of
from attention.capture.files import is_recording
from attention.capture.recording import read_recording
from attention.core.functional import Trace, WeightsAlone

MAX_BYTES = 16 << 20  # of a file, packed and unpacked
MAX_TEXT = 1 << 20  # bytes of a header and characters of tokens: 512 long ones take 0.6 MB
MAX_ENTRIES, ENTRY = 1000, b"PK\x01\x02"  # of an .npz, and what each of them begins with
MAX_PROBLEM = 240  # characters
MAX_TOKENS, MAX_HEADS = 512, 1024  # of a file, in all layers
MAX_KEPT = 4 * MAX_HEADS  # of a run, which may have attentions beside those that are shown
MAX_TOKEN_LENGTH = 200
PARTS = ("weights", "tokens", "keys")


@dataclass(frozen=True, eq=False)
class OpenedWeights:
    """Weights from a file. numbers (layers, heads, queries, keys), of the file's own type where
    that is no larger than float32; tokens: one for each query; keys: one for each key, None where
    they are those of the queries."""

    modules: ClassVar[Sequence[str]] = ()  # none is known
    problems: ClassVar[Sequence[str]] = ()
    absent: ClassVar[Sequence[int]] = ()  # each layer has all heads

    numbers: Tensor
    tokens: list[str]
    keys: list[str] | None

    @property
    def shape(self) -> tuple[int, ...]:
        """Layers, heads, queries and keys."""
        return tuple(self.numbers.shape)

    @property
    def head_numbers(self) -> range:
        """The number of each head."""
        return range(self.numbers.shape[1])

    @property
    def layer_titles(self) -> list[str]:
        """A title of each layer."""
        return [f"layer {position}" for position in range(self.numbers.shape[0])]

    @property
    def crosses(self) -> bool:
        """True if the keys are those of another sequence than the queries."""
        return self.keys is not None

    @property
    def known(self) -> Keys:
        """The keys, as far as they are known: equal tokens by their texts, within one sequence."""
        return Keys(ids=() if self.crosses else self.tokens)

    @property
    def shares(self) -> list[bool]:
        """For each layer whether its weights are shares of 1: all are."""
        return [True] * len(self.numbers)

    def has(self, layer: int, head: int) -> bool:
        """True: each layer has all heads."""
        return True

    def each(self, rows: Tensor | None = None) -> Iterator[Rows]:
        """The rows of one layer after the other, in blocks. rows: their positions, None = all."""
        if rows is None:
            return map(in_blocks, self.numbers)
        return ([(rows, layer[:, rows])] for layer in self.numbers)

    def trace(self, layer: int, head: int) -> Trace:
        """One head, as float32; keeps nothing of the others."""
        return WeightsAlone(self.numbers[layer, head].to(torch.float32, copy=True))


def unpacked_bytes(content: bytes) -> int:
    """Number of bytes a file takes once it is read; its own headers tell, nothing is unpacked.

    Raises ValueError, saying what was expected and what came, where those cannot be read, or where
    that is more than a file may have.
    """
    if len(content) > MAX_BYTES:
        raise ValueError(f"the file may have up to {MAX_BYTES >> 20} MB")
    if not _is_npz(content):
        return len(content)
    if content.count(ENTRY) > MAX_ENTRIES:
        raise ValueError(f"the file must have up to {MAX_ENTRIES:,} arrays, it has more")
    try:
        with zipfile.ZipFile(BytesIO(content)) as archive:
            unpacked = sum(entry.file_size for entry in archive.infolist())
    except Exception as error:  # what it may raise is listed nowhere
        raise _unreadable_npz(error) from error
    if unpacked > MAX_BYTES:
        raise ValueError(
            f"the file must have up to {MAX_BYTES >> 20} MB unpacked, it would take "
            f"{unpacked / (1 << 20):.1f}"
        )
    return unpacked


def read_own(content: bytes) -> OpenedWeights | OpenedRun:
    """Read a small file of a run, as `Recording.save` writes it, or else one of weights.

    Raises ValueError, saying shortly what was expected and what came.
    """
    if not is_recording(content):
        return read_file(content)
    unpacked_bytes(content)
    return opened_run(read_recording(content, MAX_KEPT))


def read_file(content: bytes) -> OpenedWeights:
    """Read a small file of weights.

    content: of an .npz with the arrays `weights`, `tokens` and, if they are others, `keys`, the
    latter two as arrays of texts or as one JSON text each; or of a .safetensors with the tensor
    `weights` and the others as JSON in its metadata. No pickle is read. Raises ValueError, saying
    shortly what was expected and what came.
    """
    try:
        unpacked_bytes(content)
        parts = _read_npz(content) if _is_npz(content) else _read_safetensors(content)
        if "weights" not in parts or "tokens" not in parts:
            there = ", ".join(name[:40] for name in parts) or "neither"
            raise ValueError(f"the file must have weights and tokens, it has {there}")
        tokens = _read_tokens("tokens", parts["tokens"])
        keys = _read_tokens("keys", parts["keys"]) if "keys" in parts else None
        weights = fit_weights(_small(parts["weights"]), tokens, keys)
        if max(weights.shape[2:]) > MAX_TOKENS or weights.shape[:2].numel() > MAX_HEADS:
            raise ValueError(
                f"there may be up to {MAX_TOKENS} tokens and {MAX_HEADS} heads in all, "
                f"got {max(weights.shape[2:])} and {weights.shape[:2].numel()}"
            )
        check_numbers(weights)
        return OpenedWeights(weights, tokens, keys)
    except ValueError as error:
        words = str(error)
        if len(words) <= MAX_PROBLEM:
            raise
        raise ValueError(f"{words[:MAX_PROBLEM]} …") from error


def _is_npz(content: bytes) -> bool:
    return content[:2] == b"PK"


def _unreadable_npz(error: Exception) -> ValueError:
    return ValueError(f"the file must be an .npz of numbers and texts: {error}")


def _read_npz(content: bytes) -> dict[str, Any]:
    try:
        with numpy.load(BytesIO(content), allow_pickle=False) as arrays:
            found = {name: numpy.asarray(arrays[name]) for name in PARTS if name in arrays}
    except Exception as error:  # what the two libraries may raise is listed nowhere
        raise _unreadable_npz(error) from error
    named = {name: found[name] for name in PARTS[1:] if name in found}
    texts = {name: array for name, array in named.items() if array.dtype.kind == "U"}
    if any(array.size > MAX_TOKENS for array in texts.values()):
        raise ValueError(f"there must be up to {MAX_TOKENS} tokens, got more")
    return found | {name: array.tolist() for name, array in texts.items()}


def _read_safetensors(content: bytes) -> dict[str, Any]:
    size = int.from_bytes(content[:8], "little")
    try:
        if size > MAX_TEXT:
            raise ValueError(f"its header must have up to {MAX_TEXT:,} bytes, got {size:,}")
        found: dict[str, Any] = dict(load_safetensors(content))
        metadata = json.loads(content[8 : 8 + size]).get("__metadata__") or {}
    except (SafetensorError, ValueError, KeyError) as error:
        raise ValueError(f"the file must be .npz or .safetensors: {error}") from error
    return found | {name: metadata[name] for name in PARTS[1:] if name in metadata}


def _read_tokens(name: str, given: object) -> list[str]:
    """Tokens, cut to a length: given as they are, or as a JSON list in one text."""
    try:
        read = json.loads(given[: MAX_TEXT + 1]) if isinstance(given, str) else given
    except (ValueError, RecursionError):
        read = None
    if not isinstance(read, list) or not all(isinstance(token, str) for token in read):
        raise ValueError(
            f'{name} must be texts, one for each token, as in ["the", "cat"], or that list as JSON'
        )
    return [token[:MAX_TOKEN_LENGTH].encode("utf-8", "replace").decode() for token in read]


def _small(weights: Any) -> Tensor:
    """The weights of a file in no more room than they take there, and at most that of float32.

    Of whole numbers only 0 and 1 are weights, which every type has.
    """
    if isinstance(weights, Tensor):
        numbers = tensor_of(weights)
        if numbers.is_floating_point():
            return numbers.float() if numbers.itemsize > 4 else numbers
        return numbers if numbers.itemsize == 1 else numbers.half()
    if weights.dtype.kind == "f":
        kept = numpy.dtype(f"f{min(weights.itemsize, 4)}")
    elif weights.dtype.kind in "iu":
        kept = weights.dtype if weights.itemsize == 1 else numpy.dtype("f2")
    else:
        raise ValueError(f"weights must be numbers, got {weights.dtype}")
    with numpy.errstate(over="ignore"):  # what is too large becomes ∞, which is no weight
        return torch.from_numpy(weights.astype(kept, copy=False))
