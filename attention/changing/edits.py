"""One head's part, set to other numbers at some positions of some forward passes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from attention.changing.replacements import Asked, checked, spares_the_first, value_of
from attention.core.arguments import must_be, must_be_several

PARTS = ("queries", "keys", "values", "weights", "output")  # in the order in which they follow
Chosen = Sequence[int] | slice | None
Head = tuple[int | str, int]


@dataclass(frozen=True, eq=False)
class Edit:
    """A part of one head, set to something else. Raises ValueError where there is no such part.

    layer: a number in the order in which attentions run, or a module's name; positions: of
    queries, or of keys for keys and values, counted in the whole sequence; forwards: which calls of
    the attention, counted from 0 in the block; lane: which of so many equal parts of the batch.
    """

    layer: int | str
    head: int
    part: str
    to: Any
    positions: Chosen = None
    forwards: Collection[int] | None = None
    lane: tuple[int, int] | None = None
    came: set[int] = field(default_factory=set)  # positions that were changed

    def of(self, number: int, name: str, forward: int) -> bool:
        """True where it changes this call of an attention."""
        return self.layer in (number, name) and (self.forwards is None or forward in self.forwards)

    def entries(self, count: int) -> slice:
        """The entries of a batch that it changes."""
        if self.lane is None:
            return slice(0, count)
        at, lanes = self.lane
        return slice(at * count // lanes, (at + 1) * count // lanes)

    @property
    def never(self) -> list[int]:
        """Positions that were asked for by their numbers, and never changed."""
        if self.positions is None or isinstance(self.positions, slice):
            return []
        return [int(at) for at in self.positions if at >= 0 and int(at) not in self.came]

    def apply(self, now: Tensor, start: int, number: int, name: str, kept: Tensor | None) -> Tensor:
        """The part with its changes, a new tensor. now: (entries, positions, width), of which the
        first position is `start` in the whole sequence. Raises ValueError where it does not fit."""
        at = self._chosen(start, start + now.shape[1]).to(now.device)
        if not len(at):
            return now
        self.came.update(at.tolist())
        asked = Asked(number, name, self.head, self.part, at, now, kept)
        to = value_of(self.to, asked)
        shape = len(now), len(at), now.shape[2]
        if isinstance(to, Tensor):
            to = to.to(now)
            try:
                to = to.expand(shape)
            except RuntimeError:
                raise ValueError(
                    f"to must broadcast to (entries, positions, width) = {shape} of the "
                    f"{self.part} of layer {number} ({name}), got {tuple(to.shape)}"
                ) from None
        changed = now.clone()
        changed[:, at - start] = to
        return changed

    def _chosen(self, start: int, stop: int) -> Tensor:
        every = torch.arange(stop)
        if self.positions is None or isinstance(self.positions, slice):
            found = every[self.positions or slice(None)]
        else:
            asked = torch.tensor([*self.positions], dtype=torch.long)
            found = torch.where(asked < 0, asked + stop, asked)
        return found[(found >= start) & (found < stop)]


def edits(
    off: Collection[Head],
    to: Any,
    part: str,
    positions: Chosen,
    forwards: Collection[int] | None,
    lane: tuple[int, int] | None = None,
) -> list[Edit]:
    """An edit for each of some heads. Raises ValueError where something is of another kind."""
    if part not in PARTS:
        raise ValueError(f"part must be one of {', '.join(PARTS)}, got {part!r}")
    must_be_several("off", off, tuple, example="[(layer, head)]")
    for each in off:
        if len(each) != 2:
            raise ValueError(f"off must have pairs (layer, head), got {each}")
        must_be("a layer", each[0], int, str)
        must_be("a head", each[1], int)
        if isinstance(each[0], int) and each[0] < 0:
            raise ValueError(f"a layer must be counted from 0 or named, got {each[0]}")
    if not (positions is None or isinstance(positions, slice)):
        must_be_several("positions", positions, int, example="[3], or a slice")
    if forwards is not None:
        must_be_several("forwards", forwards, int, example="[0]")
    to = checked(to, part)
    if positions is None and spares_the_first(to):
        positions = slice(1, None)
    return [Edit(layer, head, part, to, positions, forwards, lane) for layer, head in off]
