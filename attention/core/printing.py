"""Short forms of what holds tensors, for a notebook."""

from __future__ import annotations

from torch import Tensor


def shapes(holder: object) -> str:
    """The shapes of its parts, not their numbers: `Trace(queries=(3, 5), …, scale=0.5)`."""
    parts = [
        f"{name}={_short(part)}"
        for name, part in vars(holder).items()
        if part is not None and not name.startswith("_")
    ]
    return f"{type(holder).__name__}({', '.join(parts)})"


def _short(part: object) -> str:
    if isinstance(part, Tensor):
        return str(tuple(part.shape))
    if isinstance(part, bool | int | float | str):
        return repr(part)
    if isinstance(part, tuple | list):
        if all(isinstance(each, Tensor) for each in part):
            return f"({', '.join(map(_short, part))})"
        return f"{len(part)} × {type(part[0]).__name__}"
    return type(part).__name__
