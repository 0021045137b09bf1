"""Recordings as files: safetensors, whose metadata say what each tensor is; opened by memory map.

A file is a stranger's: all that it says is checked before anything is read by it, and it is refused
in one sentence that says what was expected and what came.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from attention.capture.attentions import Attention, Marked
from attention.capture.checks import REASON, list_of, must, name_of, number_of, told, whole
from attention.capture.handing import Effective
from attention.capture.masking import Bias, Mask, Rules
from attention.capture.recurrences import Recurrence
from attention.capture.recurring_files import check_numbers, check_shapes, recurrence_of

FORMAT = "attention-recording-1"
MAX_HEADER = 64 << 20  # bytes: the texts of a million tokens
MAX_TOKENS, MAX_TOKEN_LENGTH = 1 << 20, 200
MAX_SIZE = 1 << 16  # entries, heads, numbers of a vector, attentions
FLOATS = ("F16", "BF16", "F32", "F64")
F32 = torch.finfo(torch.float32)  # what weights are made in; of float64 in that
RANGES = {"F64": torch.finfo(torch.float64)}
PARTS = {  # of an attention, with the types that each may have
    "queries": FLOATS,
    "keys": FLOATS,
    "values": FLOATS,
    "sinks": FLOATS,
    "first": ("I32",),
    "stop": ("I32",),
    "cells": ("U8",),
    "even": ("BOOL",),
    "bias": FLOATS,
    "strength": FLOATS,
    "decay": FLOATS,
    "rate": FLOATS,
    "given": FLOATS,
}


@dataclass(frozen=True, eq=False)
class Contents:
    """All that a file holds of a recording, see `recording.Recording`."""

    attentions: Sequence[Attention]
    left_out: Mapping[str, str]
    model: str
    step: int
    tokens: Sequence[str] | None
    keys: Sequence[str] | None
    unasked: Sequence[str]


def save(contents: Contents, path: str | Path) -> None:
    """Write a recording; the file is there whole or not at all.

    Tensors keep their type; a mask that several attentions have is there once. Raises ValueError
    where texts are not as many as the queries or keys of an attention.
    """
    path = Path(path)
    _check_counts(contents.attentions, contents.tokens, contents.keys)
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{path.parent} must be a folder, there is none")
    stored: dict[str, Tensor] = {}
    known: dict[tuple[object, ...], str] = {}

    def place(name: str, tensor: Tensor) -> str:
        key = tensor.data_ptr(), tensor.shape, tensor.stride(), tensor.dtype
        if key not in known:
            known[key] = name
            whole = tensor.detach().cpu().contiguous()
            own = whole.untyped_storage().nbytes() == whole.nbytes
            stored[name] = whole if own else whole.clone()
        return known[key]

    said = {
        "model": _plain(contents.model),
        "step": contents.step,
        "tokens": contents.tokens,
        "keys": contents.keys,
        "left_out": {_plain(name): why for name, why in contents.left_out.items()},
        "unasked": [_plain(name) for name in contents.unasked],
        "attentions": [_said(attention, place) for attention in contents.attentions],
    }
    metadata = {"format": FORMAT, "recording": json.dumps(said)}
    begun = path.with_name(f".{path.name}.part")
    try:
        save_file(stored, begun, metadata)
        begun.replace(path)
    finally:
        begun.unlink(missing_ok=True)


def _said(attention: Attention, place: Callable[[str, Tensor], str]) -> dict[str, Any]:
    attention = attention.marked() if isinstance(attention, Effective) else attention
    mask, bias = attention.rules.mask, attention.rules.bias
    parts = {name: getattr(attention, name) for name in ("queries", "keys", "values", "sinks")}
    if mask is not None:
        parts |= {name: getattr(mask, name) for name in ("first", "stop", "cells", "even")}
    parts["bias"] = None if bias is None else bias.values
    parts["given"] = attention.given if isinstance(attention, Marked) else None
    recurs = None
    if isinstance(attention, Recurrence):
        parts |= {name: getattr(attention, name) for name in ("strength", "decay", "rate")}
        recurs = {
            "rule": attention.rule,
            "is_normed": attention.is_normed,
            "beside": attention.beside,
        }
    there = {name: part for name, part in parts.items() if part is not None}
    return {
        "recurs": recurs,
        "number": attention.number,
        "name": _plain(attention.name),
        "kind": attention.kind,
        "heads": attention.heads,
        "groups": attention.groups,
        "scale": attention.scale,
        "cap": attention.cap,
        "origin": None if bias is None else bias.origin,
        "parts": {name: place(f"{attention.number}.{name}", there[name]) for name in there},
    }


def _plain(name: str) -> str:
    """A name as files may have it."""
    return re.sub(r"[^\w.#()\[\] -]", "_", name)[:300]


def read(path: str | Path) -> Contents:
    """All of a recording in a file. Numbers are read once to be checked, and again from the disk
    where they are asked for.

    Raises ValueError, in one sentence, where the file is none or what it says does not fit.
    """
    path = Path(path)
    _check_header(path)
    try:
        file: Any = safe_open(path, framework="pt")
        metadata = file.metadata() or {}
        stored = {name: file.get_slice(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError) as error:
        raise ValueError(f"the file must be a whole .safetensors: {error}"[:240]) from error
    if metadata.get("format") != FORMAT:
        raise ValueError(f"the file must be a recording, of the format {FORMAT}")
    try:
        said = json.loads(metadata.get("recording", ""))
    except (ValueError, RecursionError) as error:
        raise ValueError("the file must describe its recording as JSON") from error
    shapes = {name: (tuple(one.get_shape()), one.get_dtype()) for name, one in stored.items()}
    read = _Reading(shapes, file.get_tensor)
    described = list_of(told(said, "attentions"), dict, MAX_SIZE)
    attentions = [read.attention(one) for one in described]
    numbers = [one.number for one in attentions]
    must(numbers == sorted(set(numbers)), "attentions must have numbers that rise", numbers[:9])
    left_out = told(said, "left_out", dict)
    must(len(left_out) <= MAX_SIZE, f"up to {MAX_SIZE} modules may be left out", len(left_out))
    for name, why in left_out.items():
        name_of(name)
        must(isinstance(why, str) and REASON.fullmatch(why), "a reason must be plain text", why)
    for one in attentions:
        read.check_numbers(one)
    tokens, keys = _tokens(said, "tokens"), _tokens(said, "keys")
    _check_counts(attentions, tokens, keys)
    unasked = list_of(said.get("unasked", []), str, MAX_SIZE)  # files of before have none
    return Contents(
        attentions,
        left_out,
        model=name_of(told(said, "model", str) or "run"),
        step=whole(told(said, "step"), 0, 1 << 60, "step"),
        tokens=tokens,
        keys=keys,
        unasked=[name_of(name) for name in unasked],
    )


def _check_header(path: Path) -> None:
    """Raises ValueError where the file's first bytes promise more than it may have."""
    size = path.stat().st_size
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
    if size < 8 or length > min(MAX_HEADER, size - 8):
        raise ValueError(
            f"the file must begin with the length of its header, up to {MAX_HEADER:,} bytes and "
            f"within its {size:,}, got {length:,}"
        )


class _Reading:
    """Attentions of a file: what it says of each, held against the shapes that it has."""

    def __init__(
        self,
        shapes: Mapping[str, tuple[tuple[int, ...], str]],
        tensor: Callable[[str], Tensor],
    ) -> None:
        self.shapes, self.tensor = shapes, tensor
        self.tensors: dict[str, Tensor] = {}  # one for all that share it
        self.greatest: dict[str, float] = {}  # of each tensor of floats, regardless of sign
        self.parts: dict[int, dict[str, str]] = {}  # of each attention

    def attention(self, said: dict[str, Any]) -> Attention:
        number = whole(told(said, "number"), 0, MAX_SIZE, "number")
        name, kind = name_of(told(said, "name")), told(said, "kind")
        must(kind in ("self", "cross"), "kind must be self or cross", kind)
        parts = self.parts[number] = told(said, "parts", dict)
        shapes = {part: self._shape(part, place) for part, place in parts.items()}
        must({"queries", "keys"} <= shapes.keys(), "there must be queries and keys", [*shapes])
        queries, keys = shapes["queries"], shapes["keys"]
        for part in sorted({"queries", "keys", "values"} & shapes.keys()):
            _check_sizes(part, shapes[part])
        fits = (queries[0], queries[3]) == (keys[0], keys[3])
        must(fits, "keys must have the entries and the d_k of the queries", (queries, keys))
        heads = [whole(one, 0, MAX_SIZE, "head") for one in told(said, "heads", list)]
        recurs = said.get("recurs")  # files of before have none
        of_heads = "queries" if recurs is None else "strength"
        must(of_heads in shapes, f"there must be a {of_heads} of each head", [*shapes])
        many = shapes[of_heads][1:2]
        must((len({*heads}), len(heads)) == 2 * many, "each head has its number", heads[:9])
        groups = [whole(one, 0, keys[1], "group") for one in told(said, "groups", list)]
        must(len(groups) == len(heads), "each head has its key head", groups[:9])
        scale, cap = number_of(told(said, "scale"), "scale"), told(said, "cap")
        if cap is not None:
            must(number_of(cap, "cap") > 0, "cap must be greater than 0", cap)
        origin = told(said, "origin")
        if origin is not None:
            origin = whole(origin, 0, 2 * MAX_TOKENS, "origin")
        self._check_shapes(shapes, origin, len(heads) if recurs else None)
        get = {part: self._tensor(place) for part, place in parts.items()}
        mask = None
        if "first" in get:
            mask = Mask(get["first"], get["stop"], get.get("cells"), get.get("even"))
        bias = Bias(get["bias"], origin) if "bias" in get else None
        shared: tuple[Any, ...] = (
            number,
            name,
            cast(Literal["self", "cross"], kind),
            get["queries"],
            get["keys"],
            get.get("values"),
            tuple(heads),
            tuple(groups),
            scale,
            cap,
            get.get("sinks"),
            Rules(mask, bias, queries[2], keys[2]),
        )
        if "given" in get:
            return Marked(*shared, given=get["given"])
        return Attention(*shared) if recurs is None else recurrence_of(shared, recurs, get)

    def check_numbers(self, attention: Attention) -> None:
        """Raises ValueError where numbers are not finite or give scores that are not, or a mask
        leads beyond the keys."""
        greatest = {"queries": 0.0, "keys": 0.0, "bias": 0.0, "strength": 0.0}
        for part, place in self.parts[attention.number].items():
            if PARTS[part] is not FLOATS:
                continue
            if place not in self.greatest:
                self.greatest[place] = _greatest(self.tensors[place])
            greatest[part] = self.greatest[place]
            finite = math.isfinite(greatest[part])
            must(finite, f"{part} must be finite numbers", attention.name)
        if isinstance(attention, Recurrence):
            check_numbers(attention)
        self._check_scores(attention, greatest)
        mask, n_keys = attention.rules.mask, attention.rules.keys
        if mask is not None:
            inside = (mask.first >= 0) & (mask.first <= mask.stop) & (mask.stop <= n_keys)
            must(bool(inside.all()), f"a mask must stay within {n_keys} keys", attention.name)

    def _check_scores(self, attention: Attention, greatest: Mapping[str, float]) -> None:
        """Raises ValueError where a step towards the weights is beyond the type it is made in.

        greatest: number of each part; of d products of these a score can have the sum.
        """
        dtype = RANGES.get(self.shapes[self.parts[attention.number]["queries"]][1], F32)
        scaled = abs(attention.scale) * max(1.0, greatest["queries"])
        products = greatest["keys"] * attention.queries.shape[3] * max(1.0, greatest["strength"])
        reach = scaled * products + greatest["bias"]
        most = max(scaled, reach, attention.cap or 0.0, *greatest.values())
        name = f"numbers and scores of {attention.name}"
        must(most <= dtype.max, f"{name} must stay within ±{dtype.max:.1e}", f"up to {most:.1e}")
        cap = attention.cap
        must(cap is None or cap >= dtype.tiny, f"cap must be from {dtype.tiny:.1e} on", cap)

    def _shape(self, part: str, place: object) -> tuple[int, ...]:
        must(part in PARTS, f"parts must be among {', '.join(PARTS)}", part)
        known = isinstance(place, str) and place in self.shapes
        must(known, f"{part} must be a tensor of the file", place)
        shape, dtype = self.shapes[cast(str, place)]
        must(dtype in PARTS[part], f"{part} must be of {', '.join(PARTS[part])}", dtype)
        return shape

    def _tensor(self, place: str) -> Tensor:
        if place not in self.tensors:
            self.tensors[place] = self.tensor(place)
        return self.tensors[place]

    def _check_shapes(
        self, shapes: dict[str, tuple[int, ...]], origin: int | None, recurring: int | None
    ) -> None:
        """recurring: how many heads of a layer without a softmax, None = it has one."""
        entries, heads, n_queries, _ = shapes["queries"]
        n_keys = shapes["keys"][2]
        if recurring is not None:
            check_shapes(shapes, recurring)
        else:
            of_others = sorted({"strength", "decay", "rate"} & shapes.keys())
            must(not of_others, "a softmax has no such parts", of_others)
        if "given" in shapes:
            whole_maps = (entries, heads, n_queries, n_keys)
            fits = shapes["given"] == whole_maps and recurring is None
            must(fits, f"given must be {whole_maps}", shapes["given"])
        if "values" in shapes:
            of_each = (entries, recurring or shapes["keys"][1], n_keys)
            fits = shapes["values"][:3] == of_each
            must(fits, "values must be as many as the keys", shapes["values"])
        if "sinks" in shapes:
            must(shapes["sinks"] == (heads,), f"sinks must be ({heads},)", shapes["sinks"])
        both = ("first" in shapes) == ("stop" in shapes)
        alone = "first" not in shapes and ("cells" in shapes or "even" in shapes)
        must(both and not alone, "a mask must have first and stop", [*shapes])
        whole = ((1, entries), (1, heads), (1, n_queries))
        lasts = {"first": (), "stop": (), "even": (), "cells": ((-(-n_keys // 8),),)}
        for part in lasts.keys() & shapes.keys():
            self._check_axes(part, shapes[part], (*whole, *lasts[part]))
        if "bias" in shapes and origin is None:
            self._check_axes("bias", shapes["bias"], (*whole, (n_keys,)))
        elif "bias" in shapes and origin is not None:
            n = shapes["bias"][-1] if shapes["bias"] else 0
            self._check_axes("bias", shapes["bias"], (*whole[:2], (n,)))
            inside = origin >= n_queries - 1 and origin + n_keys <= n
            must(inside, f"bias must reach {n_queries} queries and {n_keys} keys", (n, origin))

    @staticmethod
    def _check_axes(part: str, shape: tuple[int, ...], axes: Sequence[tuple[int, ...]]) -> None:
        fits = len(shape) == len(axes) and all(
            size in those for size, those in zip(shape, axes, strict=True)
        )
        words = ", ".join(" or ".join(map(str, sorted({*those}))) for those in axes)
        must(fits, f"{part} must be ({words})", shape)


def _check_sizes(part: str, shape: tuple[int, ...]) -> None:
    most = (MAX_SIZE, MAX_SIZE, MAX_TOKENS, MAX_SIZE)
    fits = len(shape) == 4 and all(
        1 <= size <= bound for size, bound in zip(shape, most, strict=True)
    )
    must(fits, f"{part} must be (entries, heads, tokens, d), each from 1 to {most}", shape)


def _greatest(tensor: Tensor) -> float:
    """The greatest number regardless of sign, NaN where any is (torch.aminmax)."""
    return float(torch.stack(tensor.aminmax()).abs().amax())


def _check_counts(
    attentions: Sequence[Attention], tokens: Sequence[str] | None, keys: Sequence[str] | None
) -> None:
    """Raises ValueError where texts are not as many as the queries or the keys of an attention."""
    counts = {count for one in attentions for count in one.shape[2:]}
    for name, texts in (("tokens", tokens), ("keys", keys)):
        if texts is not None and len(texts) not in counts:
            expected = " or ".join(map(str, sorted(counts))) or "no"
            raise ValueError(
                f"{name} must be as many as queries or keys: expected {expected} {name}, "
                f"got {len(texts)}"
            )


def _tokens(said: Any, name: str) -> list[str] | None:
    """Texts, cut to a length; they may hold anything, and are to be shown as text only."""
    found = told(said, name)
    if found is None:
        return None
    return [
        token[:MAX_TOKEN_LENGTH].encode("utf-8", "replace").decode()
        for token in list_of(found, str, MAX_TOKENS)
    ]
