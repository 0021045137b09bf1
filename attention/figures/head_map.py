"""A head of a long run as a street map: from the whole of it down to one weight with its number.

A map has levels. At level ℓ a square stands for a block of 2^ℓ queries and keys and is their
greatest weight, so that no strong one is lost on the way out. Tiles of the finer levels are made
of queries and keys as they are asked for; those of the coarser ones of one map of all blocks of a
size, which takes one look at each row.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import max_pool2d

from attention.capture import Recording

SIDE = 256  # squares along a tile
EXACT_SIDE = 64  # cells along a tile of weights
EXACT = -1  # its level
LIGHT = 4  # the highest level up to which a tile takes little time without a map of blocks
FEW, MANY = 1024, 2048  # blocks along the map of all blocks: as a rule, and at most
SCREEN = 2 * SIDE
SAMPLE = 512  # rows that a first look takes
AT_ONCE = 1 << 20  # cells that are worked on together, which a cache holds;
ROWS_AT_ONCE, MOST_AT_ONCE = 128, 1 << 22  # more where so many rows have more, up to
SHADES = 254  # from the least weight that has a colour to 1


class Link(NamedTuple):
    """A cell, and its weight."""

    query: int
    key: int
    weight: float


def shades(weights: Tensor, least: float) -> Tensor:
    """Sizes of weights as uint8, by equal ratios: 0 = none, 1 = up to `least`, 255 = 1 or more."""
    share = (1 - weights.log() / math.log(least)) * SHADES
    return (1 + share.round().clamp(0, SHADES)).masked_fill(weights <= 0, 0).to(torch.uint8)


def greatest_of(weights: Tensor, size: int) -> Tensor:
    """The greatest of each block of so many rows and columns; the last ones may have fewer."""
    return max_pool2d(weights[None], size, ceil_mode=True)[0] if size > 1 else weights


@dataclass(eq=False)
class Blocks:
    """The greatest weights of all blocks of a size, as far as they are known.

    greatest: (rows of blocks, columns of blocks); done: rows of cells that are looked at; below
    these stands what a few rows say, once there was a first look.
    """

    greatest: Tensor
    done: int = 0
    looked: bool = False


class HeadMap:
    """The map of one head of a recording.

    number, head: the model's own; rows, columns: queries and keys; base, top: the levels of
    `blocks` and of the whole in one tile; blocks: None = to be made; entry: which of a batch.
    """

    def __init__(
        self,
        run: Recording,
        number: int,
        head: int,
        blocks: Blocks | None = None,
        entry: int = 0,
    ) -> None:
        self.run, self.number, self.head, self.entry = run, number, head, entry
        self.rows, self.columns = run.attention(number).shape[2:]
        most = max(self.rows, self.columns)
        self.base = max(min(_level(most, FEW), LIGHT), _level(most, MANY))
        self.top = max(self.base, _level(most, SIDE))
        size = 1 << self.base
        shape = -(-self.rows // size), -(-self.columns // size)
        self.blocks = blocks or Blocks(torch.zeros(shape))

    @property
    def greatest(self) -> Tensor:
        return self.blocks.greatest

    @property
    def done(self) -> int:
        return self.blocks.done

    @property
    def least(self) -> float:
        """The weight up to which all have the faintest colour: that of even attention."""
        return 1 / max(2, self.columns)

    @property
    def is_done(self) -> bool:
        """True if every row has been looked at."""
        return self.done >= self.rows

    @torch.no_grad()
    def look(self) -> None:
        """A first look, where there was none: some rows, each for those below it."""
        if self.blocks.looked:
            return
        self.blocks.looked = True
        size = 1 << self.base
        step = size * -(-self.rows // (SAMPLE * size))
        seen = self._made(step, size, step)
        self.greatest.copy_(seen.abs().repeat_interleave(step // size, 0)[: len(self.greatest)])

    @torch.no_grad()
    def fill(self, tell: Callable[[int, int], object]) -> None:
        """Look at each row from `done` on. tell: gets how many of how many are looked at."""
        size = 1 << self.base
        at_once = min(MOST_AT_ONCE, max(AT_ONCE, ROWS_AT_ONCE * self.columns))
        many = max(1, at_once // self.columns // size)
        for begin in range(self.done // size, len(self.greatest), many):
            band = begin, min(begin + many, len(self.greatest))
            blocks = self._made(size, size, band=band)
            self.greatest[slice(*band)] = blocks.abs().to(self.greatest)
            self.blocks.done = min(band[1] * size, self.rows)
            tell(self.done, self.rows)

    def has(self, level: int, row: int, column: int) -> bool:
        """True if there is such a tile."""
        if level == EXACT:
            return self._reaches(row, column, EXACT_SIDE)
        return 0 <= level <= self.top and self._reaches(row, column, SIDE << level)

    def has_block(self, level: int, row: int, column: int) -> bool:
        """True if there is such a block."""
        return 0 <= level <= self.top and self._reaches(row, column, 1 << level)

    def _reaches(self, row: int, column: int, side: int) -> bool:
        return 0 <= row * side < self.rows and 0 <= column * side < self.columns

    def whole(self) -> list[tuple[int, int, int]]:
        """The tile of the whole, and those in which it fills about a screen."""
        level = _level(max(self.rows, self.columns), SCREEN)
        side = SIDE << level
        down, across = range(-(-self.rows // side)), range(-(-self.columns // side))
        of_level = [(level, row, column) for row in down for column in across]
        return [*dict.fromkeys([(self.top, 0, 0), *of_level])]

    def is_final(self, level: int, row: int) -> bool:
        """True if tiles of that row say all there is, not what a first look says."""
        return level < self.base or self.done >= min(self.rows, (row + 1) * SIDE << level)

    def tile_of(self, level: int, row: int, column: int) -> tuple[Tensor, bool]:
        """The numbers of a tile that there is, and whether they say all there is."""
        if level == EXACT:
            return self.weights(row, column), True
        final = self.is_final(level, row)  # before it is read: more may be known a moment later
        return self.tile(level, row, column), final

    def tile(self, level: int, row: int, column: int) -> Tensor:
        """Shades of up to `SIDE` blocks down and across, uint8."""
        return shades(self._blocks(level, row, column), self.least)

    def weights(self, row: int, column: int) -> Tensor:
        """The weights of up to `EXACT_SIDE` queries and keys, float32."""
        return self._part(_span(row, EXACT_SIDE), _span(column, EXACT_SIDE))

    def row(self, query: int) -> Tensor:
        """All weights of a query, float32 (keys,)."""
        return self._part(query, slice(None))[0]

    def greatest_in(self, level: int, row: int, column: int) -> Link:
        """The greatest weight of the block of a level that stands in that row and column."""
        while level > self.base:
            level -= 1
            part = self._squares(_span(row, 2), _span(column, 2), level)
            down, across = divmod(int(part.argmax()), part.shape[1])
            row, column = 2 * row + down, 2 * column + across
        rows, columns = (_span(at, 1 << level) for at in (row, column))
        part = self._part(rows, columns)
        down, across = divmod(int(part.abs().argmax()), part.shape[1])
        return Link(rows.start + down, columns.start + across, float(part[down, across]))

    def far_links(self, apart: int, without_first: bool, most: int = 20) -> list[Link]:
        """The greatest weights of cells whose query and key stand at least so far apart.

        without_first: leave out the first key, which takes what is not needed elsewhere. A block
        is looked into as long as its greatest weight is above the last of those found.
        """
        size = 1 << self.base
        bounds = self.greatest.clone()
        if without_first:
            bounds[:, 0] = self._without_first()
        starts = size * torch.arange(max(bounds.shape))
        rows, columns = starts[: len(bounds), None], starts[: bounds.shape[1]]
        reach = torch.maximum(columns + size - 1 - rows, rows + size - 1 - columns)
        bounds.masked_fill_(reach < apart, 0)
        found: list[Link] = []
        for weights, at in _falling(bounds, most):
            if not weights[0] or (len(found) == most and weights[0] <= abs(found[-1].weight)):
                break
            for down in at.div(bounds.shape[1], rounding_mode="floor").unique().tolist():
                across = at[at // bounds.shape[1] == down] % bounds.shape[1]
                found += self._links(_span(down, size), across, apart, without_first, most)
            found = sorted(found, key=lambda link: -abs(link.weight))[:most]
        return found

    def _links(
        self, rows: slice, across: Tensor, apart: int, without_first: bool, most: int
    ) -> list[Link]:
        """The greatest far weights of the blocks of some rows."""
        size = 1 << self.base
        keys = (size * across[:, None] + torch.arange(size)).flatten()
        keys = keys[keys < self.columns]
        part = self._part(rows, keys)
        queries = torch.arange(rows.start, rows.start + len(part))
        part = part.masked_fill((queries[:, None] - keys).abs() < apart, 0)
        if without_first:
            part = part.masked_fill(keys == 0, 0)
        _, at = part.abs().flatten().topk(min(most, part.numel()))
        weights = part.flatten()[at]
        downs, acrosses = at // len(keys), at % len(keys)
        cells = zip(weights.tolist(), queries[downs].tolist(), keys[acrosses].tolist(), strict=True)
        return [Link(query, key, weight) for weight, query, key in cells if weight]

    def _without_first(self) -> Tensor:
        """The greatest weights of the first blocks of keys, without the first key."""
        size = 1 << self.base
        if size == 1 or self.columns == 1:
            return torch.zeros(len(self.greatest))
        beside = self._part(slice(None), slice(1, size)).abs().amax(1, keepdim=True)
        return max_pool2d(beside[None], (size, 1), ceil_mode=True)[0, :, 0]

    @torch.no_grad()
    def _blocks(self, level: int, row: int, column: int) -> Tensor:
        if level >= self.base:
            return self._squares(_span(row, SIDE), _span(column, SIDE), level)
        size = 1 << level
        columns = _span(column, SIDE * size)
        stop = min(self.rows, (row + 1) * SIDE * size)
        many = max(1, AT_ONCE // (SIDE * size) // size) * size
        bands = [
            self._part(slice(begin, min(begin + many, stop)), columns).abs()
            for begin in range(row * SIDE * size, stop, many)
        ]
        return torch.cat([greatest_of(band, size) for band in bands])

    def _squares(self, rows: slice, columns: slice, level: int) -> Tensor:
        """Blocks of a level from the base on, of the map of all blocks."""
        size = 1 << level - self.base
        down, across = (slice(part.start * size, part.stop * size) for part in (rows, columns))
        return greatest_of(self.greatest[down, across], size)

    def _made(
        self, rows: int, columns: int, step: int = 1, band: tuple[int, int] | None = None
    ) -> Tensor:
        """The greatest weights of blocks, as `Recording.blocks` has them."""
        return self.run.blocks(
            self.number, self.head, rows, columns, entry=self.entry, step=step, band=band
        )

    def _part(self, rows: int | slice | Tensor, columns: slice | Tensor) -> Tensor:
        weights = self.run.weights(self.number, self.head, rows, columns, entry=self.entry)
        return weights.float().cpu()


def _level(count: int, most: int) -> int:
    """The lowest level at which so many cells are at most so many blocks."""
    return max(0, (-(-count // most) - 1).bit_length())


def _span(at: int, size: int) -> slice:
    return slice(at * size, (at + 1) * size)


def _falling(numbers: Tensor, first: int) -> Iterator[tuple[Tensor, Tensor]]:
    """The greatest numbers of a matrix and where they stand, some at a time, more each time."""
    flat, begin, count = numbers.flatten(), 0, first
    while begin < len(flat):
        weights, at = flat.topk(min(len(flat), begin + count))
        yield weights[begin:], at[begin:]
        begin, count = begin + count, count * 4
