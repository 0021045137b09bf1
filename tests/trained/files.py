"""Files that a test writes."""

from __future__ import annotations

import struct


def written(tensors: dict[str, tuple[int, tuple[int, ...], bytes]]) -> bytes:
    """A file of Marian's."""
    names = [name.encode() + b"\0" for name in tensors]
    parts = [struct.pack("<2Q", 1, len(tensors))]
    for name, (kind, shape, data) in zip(names, tensors.values(), strict=True):
        parts.append(struct.pack("<4Q", len(name), kind, len(shape), len(data)))
    parts += names
    parts += [struct.pack(f"<{len(shape)}i", *shape) for _, shape, _ in tensors.values()]
    parts += [struct.pack("<Q", 3), b"\0" * 3]
    return b"".join(parts + [data for _, _, data in tensors.values()])
