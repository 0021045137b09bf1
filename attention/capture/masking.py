"""Masks and biases of a run in little room: exact, and rarely of the size that the model gave them.

In shapes, `entries`, `heads` and `queries` may be 1 where all of them have the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import pad

ROWS = 1 << 23  # cells of a mask that are looked at together


@dataclass(frozen=True, eq=False)
class Mask:
    """The keys that each query may attend to: one stretch of them, or a stretch with gaps.

    A stretch covers causal masks, windows, lengths, padding and packed documents. first, stop:
    int32 (entries, heads, queries), the keys from `first` up to before `stop`; cells: uint8
    (entries, heads, queries, keys / 8), a bit for each key, the first one lowest, None without
    gaps; even: bool (entries, heads, queries), rows that the model barred from all keys by a large
    negative number, so that its softmax gave each key up to `stop` the same; None without any.
    """

    first: Tensor
    stop: Tensor
    cells: Tensor | None = None
    even: Tensor | None = None

    def bounds(self, entry: int, head: int, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Begin and end of the stretch of each of these rows: two of (rows,)."""
        return _rows(self.first, entry, head, rows), _rows(self.stop, entry, head, rows)

    def allowed(self, entry: int, head: int, rows: Tensor, columns: Tensor) -> Tensor:
        """(rows, columns), True = may attend."""
        first, stop = self.bounds(entry, head, rows)
        allowed = (columns >= first[:, None]) & (columns < stop[:, None])
        if self.cells is not None:
            bits = _rows(self.cells, entry, head, rows)[:, columns // 8]
            allowed &= (bits >> (columns % 8).to(torch.uint8)) & 1 == 1
        return allowed

    def evened(self, entry: int, head: int, rows: Tensor) -> Tensor | None:
        """(rows,), True = a row of equal weights; None without any."""
        return None if self.even is None else _rows(self.even, entry, head, rows)

    def of_heads(self, heads: Sequence[int]) -> Mask:
        """The mask of these heads alone."""
        cells, even = (None if x is None else _some(x, heads) for x in (self.cells, self.even))
        return Mask(_some(self.first, heads), _some(self.stop, heads), cells, even)

    def within(self, other: Mask) -> Mask:
        """The keys that both masks allow; rows are even where they are so in this one."""
        first = torch.maximum(self.first, other.first)
        stop = torch.maximum(first, torch.minimum(self.stop, other.stop))
        if self.cells is None or other.cells is None:
            return Mask(first, stop, self.cells if other.cells is None else other.cells, self.even)
        return Mask(first, stop, self.cells & other.cells, self.even)


@dataclass(frozen=True, eq=False)
class Bias:
    """Numbers that are added to the scores.

    values: (entries, heads, queries, keys); or, with an `origin`, one for each distance of a key
    from a query, (entries, heads, distances), that of distance 0 at `origin` (Raffel et al. 2020,
    section 2.1; Press et al. 2022).
    """

    values: Tensor
    origin: int | None = None

    def part(self, entry: int, head: int, rows: Tensor, columns: Tensor) -> Tensor:
        """(rows, columns)."""
        if self.origin is None:
            return _rows(self.values, entry, head, rows)[:, columns]
        return _of(self.values, entry, head)[columns - rows[:, None] + self.origin]

    def of_heads(self, heads: Sequence[int]) -> Bias:
        """The bias of these heads alone."""
        return Bias(_some(self.values, heads), self.origin)


@dataclass(frozen=True, eq=False)
class Rules:
    """The mask and the bias of one call, None where there is none; over (queries, keys)."""

    mask: Mask | None
    bias: Bias | None
    queries: int
    keys: int

    @property
    def reach(self) -> int:
        """The number of keys up to the last one that any query may attend to."""
        if self.mask is None:
            return self.keys
        stop = self.mask.stop
        if self.mask.even is not None:
            stop = stop.masked_fill(self.mask.even, 0)
        return int(stop.max())

    def of(self, heads: Sequence[int], keys: int) -> Rules:
        """The rules of these heads, over so many of the keys."""
        mask = None if self.mask is None else self.mask.of_heads(heads)
        if mask is not None and keys < self.keys:
            stop = mask.stop.clamp(max=keys)
            cells = None if mask.cells is None else mask.cells[..., : -(-keys // 8)]
            mask = Mask(mask.first.minimum(stop), stop, cells, mask.even)
        bias = None if self.bias is None else self.bias.of_heads(heads)
        return Rules(mask, bias, self.queries, keys)


def stretch(queries: int, keys: int, lowest: int, highest: int, device: torch.device) -> Mask:
    """Query i attends to keys i + lowest … i + highest, as far as there are such.

    lowest = −w + 1 and highest = 0: a causal window of w (Beltagy et al. 2020, section 3.1).
    """
    at = torch.arange(queries, dtype=torch.int32, device=device)[None, None]
    first = (at + lowest).clamp(0, keys)
    return Mask(first, torch.maximum(first, (at + highest + 1).clamp(0, keys)))


def split(given: Tensor) -> tuple[Mask | None, Bias | None]:
    """A mask as attention functions take it, as what it bars and what it adds.

    given: (entries, heads, queries, keys), bool, True = may attend; or numbers that are added, of
    which −∞ and the most negative ones of their type bar a key.
    """
    given = _without_repeats(given)
    if given.dtype is torch.bool:
        return (None if bool(given.all()) else _packed(given)), None
    barred = given <= torch.finfo(given.dtype).min / 2
    bias = None if not bool(given.masked_fill(barred, 0).any()) else _relative(given, barred)
    if not bool(barred.any()):
        return None, bias
    mask = _packed(~barred)
    # a softmax of equal numbers is even; of −∞ alone it is nothing
    even = barred.all(-1) & (given[..., 0] != -torch.inf)
    if not bool(even.any()):
        return mask, bias
    stop = mask.stop.masked_fill(even, given.shape[-1])
    return Mask(mask.first.masked_fill(even, 0), stop, mask.cells, even), bias


def join(parts: Sequence[tuple[Rules, int]], queries: int, keys: int) -> Rules:
    """The rules of calls one after another, as those of one call with all their queries.

    parts: the rules of each, and which of all the keys is its first one.
    """
    if len(parts) == 1 and not parts[0][1] and parts[0][0].keys == keys:
        return parts[0][0]
    masks = [_shifted(rules, offset) for rules, offset in parts]
    if any(mask.cells is not None for mask in masks):
        cells = [_cells(m, r, offset, keys) for m, (r, offset) in zip(masks, parts, strict=True)]
        packed = _concatenated(cells)
    else:
        packed = None
    even = [_evened(mask) for mask in masks]
    mask = Mask(
        _concatenated([mask.first for mask in masks]),
        _concatenated([mask.stop for mask in masks]),
        packed,
        _concatenated(even) if any(mask.even is not None for mask in masks) else None,
    )
    return Rules(mask, _joined_bias(parts, queries, keys), queries, keys)


def _joined_bias(parts: Sequence[tuple[Rules, int]], queries: int, keys: int) -> Bias | None:
    given = [rules.bias for rules, _ in parts if rules.bias is not None]
    if not given:
        return None
    like = given[0].values
    shape = [max(bias.values.shape[axis] for bias in given) for axis in (0, 1)]
    whole = like.new_zeros((*shape, queries, keys))
    row = 0
    for rules, offset in parts:
        rows = torch.arange(rules.queries, device=like.device)
        columns = torch.arange(rules.keys, device=like.device)
        if rules.bias is not None:
            values = rules.bias.values
            for entry in range(shape[0]):
                for head in range(shape[1]):
                    part = rules.bias.part(entry, head, rows, columns)
                    end = min(keys, offset + rules.keys)
                    whole[entry, head, row : row + rules.queries, offset:end] = part[
                        :, : end - offset
                    ].to(values.dtype)
        row += rules.queries
    reached = torch.arange(keys, device=like.device) < _reached(parts, like.device)[:, None]
    return _relative(whole, ~reached[None, None])


def _reached(parts: Sequence[tuple[Rules, int]], device: torch.device) -> Tensor:
    """The number of keys that there were when each query was asked. (queries,)."""
    counts = [
        torch.full((rules.queries,), offset + rules.keys, device=device) for rules, offset in parts
    ]
    return torch.cat(counts)


def _evened(mask: Mask) -> Tensor:
    if mask.even is None:
        return torch.zeros_like(mask.first, dtype=torch.bool)
    return mask.even


def _shifted(rules: Rules, offset: int) -> Mask:
    """The mask of a call with a row for each query, and keys counted from another one."""
    device = torch.device("cpu")
    if rules.mask is not None:
        device = rules.mask.first.device
    elif rules.bias is not None:
        device = rules.bias.values.device
    mask = rules.mask or stretch(rules.queries, rules.keys, -rules.queries, rules.keys, device)
    first, stop = (part.expand(-1, -1, rules.queries) + offset for part in (mask.first, mask.stop))
    even = None if mask.even is None else mask.even.expand(-1, -1, rules.queries)
    return Mask(first, stop, mask.cells, even)


def _cells(mask: Mask, rules: Rules, offset: int, keys: int) -> Tensor:
    """The bits of a call's mask among all the keys; all of them where it has none."""
    if mask.cells is None:
        whole = mask.first.new_full((1, 1, rules.queries, -(-keys // 8)), 255)
        return whole.to(torch.uint8)
    bits = _unpacked(mask.cells)[..., : rules.keys].expand(-1, -1, rules.queries, -1)
    return _bits(pad(bits, (offset, keys - offset - rules.keys)))


def _concatenated(parts: Sequence[Tensor]) -> Tensor:
    """Along the queries, the third axis, after entries and heads are made as many in each."""
    shape = [max(part.shape[axis] for part in parts) for axis in (0, 1)]
    device = parts[0].device
    whole = [part.to(device).expand(*shape, *part.shape[2:]) for part in parts]
    return torch.cat(whole, 2)


def _packed(allowed: Tensor) -> Mask:
    """allowed: (entries, heads, queries, keys), looked at a few rows at a time."""
    rows = max(1, ROWS // max(1, allowed.shape[:2].numel() * allowed.shape[3]))
    pieces = [_stretches(piece) for piece in allowed.split(rows, 2)]
    first = torch.cat([begins for begins, _, _ in pieces], 2)
    stop = torch.cat([ends for _, ends, _ in pieces], 2)
    gaps = any(has for _, _, has in pieces)
    cells = torch.cat(list(map(_bits, allowed.split(rows, 2))), 2) if gaps else None
    return Mask(first, stop, cells)


def _stretches(allowed: Tensor) -> tuple[Tensor, Tensor, bool]:
    """First and stop of each row, and if any row has gaps."""
    keys = allowed.shape[-1]
    numbers = allowed.to(torch.uint8)
    any_key = allowed.any(-1)
    first = numbers.argmax(-1).masked_fill(~any_key, 0)
    stop = (keys - numbers.flip(-1).argmax(-1)).masked_fill(~any_key, 0)
    gaps = bool((numbers.sum(-1, dtype=torch.int32) != stop - first).any())
    return first.int(), stop.int(), gaps


def _bits(allowed: Tensor) -> Tensor:
    whole = pad(allowed.to(torch.uint8), (0, -allowed.shape[-1] % 8))
    powers: Tensor = 2 ** torch.arange(8, dtype=torch.uint8, device=allowed.device)
    return torch.sum(whole.unflatten(-1, (-1, 8)) * powers, -1, dtype=torch.uint8)


def _unpacked(cells: Tensor) -> Tensor:
    at = torch.arange(8, dtype=torch.uint8, device=cells.device)
    return ((cells[..., None] >> at) & 1).flatten(-2)


def _relative(values: Tensor, barred: Tensor) -> Bias:
    """The bias by distance, where one number for each distance says all; else as it is.

    values: (entries, heads, queries, keys); barred: cells that do not count, shaped likewise.
    """
    queries, keys = values.shape[2:]
    distances = torch.arange(keys, device=values.device) - torch.arange(
        queries, device=values.device
    ).unsqueeze(-1)
    index = (distances + queries - 1).flatten()
    lines, exact = [], queries > 1
    for entry in range(values.shape[0]):
        for head in range(values.shape[1]):
            if not exact:
                break
            seen, counted = values[entry, head], ~_of(barred, entry, head)
            line = values.new_full((queries + keys - 1,), -torch.inf)
            line = line.scatter_reduce(
                0, index, seen.masked_fill(~counted, -torch.inf).flatten(), "amax"
            )
            exact = bool(((line[index].view(queries, keys) == seen) | ~counted).all())
            lines.append(line.masked_fill(line == -torch.inf, 0))
    if exact:
        return Bias(torch.stack(lines).view(*values.shape[:2], -1), queries - 1)
    return Bias(values.masked_fill(barred, 0))


def _without_repeats(given: Tensor) -> Tensor:
    """Axes that repeat one row as views of one; the keys stay."""
    for axis in range(given.dim() - 1):
        if given.stride(axis) == 0 and given.shape[axis] > 1:
            given = given.narrow(axis, 0, 1)
    return given


def _of(part: Tensor, entry: int, head: int) -> Tensor:
    """Part of one entry and head, where the axes may be 1."""
    return part[entry if part.shape[0] > 1 else 0, head if part.shape[1] > 1 else 0]


def _rows(part: Tensor, entry: int, head: int, rows: Tensor) -> Tensor:
    of_head = _of(part, entry, head)
    return of_head[rows if of_head.shape[0] > 1 else torch.zeros_like(rows)]


def _some(part: Tensor, heads: Sequence[int]) -> Tensor:
    return part[:, list(heads)] if part.shape[1] > 1 else part
