"""Masks: bool tensors (queries, keys), True = may attend.

device: where a mask is made, None = torch's default; to go with numbers, where these are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import torch
from torch import Tensor


def combine(masks: Iterable[Tensor]) -> Tensor | None:
    """The mask that allows what each of the masks allows, None without any. (queries, keys)."""
    combined: Tensor | None = None
    for mask in masks:
        combined = mask if combined is None else combined & mask
    return combined


def causal(
    n_queries: int, n_keys: int, first: int = 0, *, device: torch.device | str | None = None
) -> Tensor:
    """Query i may look at keys 0…i (Vaswani et al. 2017, section 3.2.3). (queries, keys).

    first: the position of the first query, where those before it are left out.
    """
    return torch.ones(n_queries, n_keys, dtype=torch.bool, device=device).tril(first)


def lengths(valid_lens: Tensor, n_keys: int) -> Tensor:
    """Only the first `valid_lens` keys may be attended to; the rest is padding.

    valid_lens: whole numbers, (batch,) for one length per sequence or (batch, queries) for one per
    query. Returns (batch, 1, keys) or (batch, queries, keys). Raises ValueError otherwise.
    """
    if valid_lens.dim() not in (1, 2) or valid_lens.is_floating_point():
        raise ValueError(
            "valid_lens must be whole numbers of shape (batch,) or (batch, queries), "
            f"got {valid_lens.dtype} of shape {tuple(valid_lens.shape)}"
        )
    per_query = valid_lens[:, None] if valid_lens.dim() == 1 else valid_lens
    return torch.arange(n_keys, device=valid_lens.device) < per_query[..., None]


def window(
    n_queries: int,
    n_keys: int,
    radius: int,
    first: int = 0,
    *,
    device: torch.device | str | None = None,
) -> Tensor:
    """Query i may look at keys i - radius … i + radius (Luong et al. 2015, section 3.2).

    first: the position of the first query, where those before it are left out. Returns
    (queries, keys). Raises ValueError when radius is negative.
    """
    if radius < 0:
        raise ValueError(f"radius must be at least 0, got {radius}")
    queries = torch.arange(first, first + n_queries, device=device)
    return (queries[:, None] - torch.arange(n_keys, device=device)).abs() <= radius


def padded(queries: Tensor, keys: Tensor) -> Tensor:
    """Pieces attend to pieces; padding attends to nothing, and nothing to it.

    queries (…, queries), keys (…, keys): bool, True = a piece. Returns (…, queries, keys).
    """
    return queries[..., :, None] & keys[..., None, :]


_ROW = re.compile(r"(\*|\d{1,4}):(\*|\d{1,4}(?:-\d{1,4})?(?:,\d{1,4}(?:-\d{1,4})?)*)")


def parse_cells(
    cells: str, n_queries: int, n_keys: int, *, device: torch.device | str | None = None
) -> Tensor:
    """The mask that hides the cells written in `cells`, by position from 0.

    One entry per query, `query:keys`, with spaces between: `"0:1,3-5 4:*"` hides keys 1, 3, 4, 5
    from query 0 and all keys from query 4; `*` stands for all. Cells outside the sentence are
    left alone. Returns (queries, keys). Raises ValueError on anything else.
    """
    mask = torch.ones(n_queries, n_keys, dtype=torch.bool, device=device)
    for entry in cells.split():
        match = _ROW.fullmatch(entry)
        if match is None:
            raise ValueError(
                f'hidden cells are written "query:keys", as in "0:1,3-5 4:*", got {entry[:40]!r}'
            )
        rows = slice(None) if match[1] == "*" else slice(int(match[1]), int(match[1]) + 1)
        for keys in match[2].split(","):
            first, _, last = keys.partition("-")
            if last and int(last) < int(first):
                raise ValueError(f"a range of hidden cells goes up, as in 3-5, got {keys!r}")
            columns = slice(None) if keys == "*" else slice(int(first), int(last or first) + 1)
            mask[rows, columns] = False
    return mask


def format_cells(mask: Tensor) -> str:
    """`cells` for which :func:`parse_cells` gives this (queries, keys) mask back."""
    entries = []
    for query, row in enumerate(mask.tolist()):
        if not any(row):
            entries.append(f"{query}:*")
            continue
        runs: list[list[int]] = []
        for key in (key for key, allowed in enumerate(row) if not allowed):
            if runs and key == runs[-1][1] + 1:
                runs[-1][1] = key
            else:
                runs.append([key, key])
        if runs:
            spans = (str(a) if a == b else f"{a}-{b}" for a, b in runs)
            entries.append(f"{query}:{','.join(spans)}")
    return " ".join(entries)
