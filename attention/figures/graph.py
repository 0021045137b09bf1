"""Steps as boxes, and the arrows between them: what a component draws."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Box:
    """One step: its name, what is done there in a word or two, and what else is to be said.

    column, lane: where it stands; lanes are those of queries (0), keys (1) and values (2), and a
    step that both queries and keys enter stands between theirs. The last box is y, no step.
    """

    step: str
    title: str
    note: str
    column: int
    lane: float


@dataclass(frozen=True)
class Arrow:
    """Arrow from one box to another: the `shape` it brings, and its name, Q, K or V, if any."""

    start: int
    end: int
    name: str
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Graph:
    """The boxes in the order of the steps, y last, and the arrows between them by position."""

    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]
