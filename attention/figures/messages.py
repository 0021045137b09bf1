"""Messages between Python and the modules in a browser: packed here, and answers to be checked."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, get_args, get_origin, get_type_hints, is_typeddict

from torch import Tensor

MAX_LIST = 5000

KINDS: dict[str, Any] = {}  # the type of what each event carries: turn and answer


def declare(event: str, kind: Any) -> None:
    """Let events of that name carry a turn and what is of that type."""
    carried = tuple[int, kind]
    if KINDS.setdefault(event, carried) != carried:
        raise ValueError(f"event {event!r} already carries {KINDS[event]}, got {carried}")


def message(header: Mapping[str, object], *tensors: Tensor, rest: bytes = b"") -> bytes:
    """A header as JSON, then float32 tensors to the last bit, then bytes.

    `decode` in browser/shared/message.js takes it apart.
    """
    numbers = [tensor.contiguous().numpy().tobytes() for tensor in tensors]
    floats = sum(map(len, numbers)) // 4
    text = json.dumps({**header, "floats": floats}, default=asdict).encode()
    return b"".join([len(text).to_bytes(4, "little"), text, *numbers, rest])


def is_a(value: object, kind: Any) -> bool:
    """True if a value from JSON is of a type: of numbers, text, lists, tuples and TypedDicts."""
    parts = get_args(kind)
    if is_typeddict(kind):
        fields = get_type_hints(kind)
        return (
            isinstance(value, dict)
            and value.keys() == fields.keys()
            and all(is_a(value[name], part) for name, part in fields.items())
        )
    if get_origin(kind) is list:
        listed = isinstance(value, list) and len(value) <= MAX_LIST
        return listed and all(is_a(one, *parts) for one in value)  # type: ignore[attr-defined]
    if get_origin(kind) is tuple:
        return isinstance(value, list) and len(value) == len(parts) and all(map(is_a, value, parts))
    if kind is float:
        return type(value) is int or (type(value) is float and math.isfinite(value))
    return type(value) is kind
