"""Figures of Step by step: steps as boxes, and the arrows between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict

from attention.figures.messages import message
from attention.figures.scene import Figure


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


class StepGraphHeader(TypedDict):
    boxes: Sequence[Box]
    arrows: Sequence[Arrow]
    chosen: int  # which box


@dataclass(frozen=True, eq=False)
class StepGraph(Figure, kind="step_graph", header=StepGraphHeader, step=str):
    """The steps of a computation as boxes from x to y, to click or reach by arrow keys.

    step: the one that is lit. Shapes stand on the arrows. It answers `step`, the name of another.
    """

    graph: Graph
    step: str

    @property
    def names(self) -> list[str]:
        """The names of the steps; of y, which is none, ""."""
        return [box.step for box in self.graph.boxes]

    def has(self, name: str) -> bool:
        """True if a step has that name."""
        return name != "" and name in self.names

    def content(self) -> bytes:
        header: StepGraphHeader = {
            "boxes": self.graph.boxes,
            "arrows": self.graph.arrows,
            "chosen": self.names.index(self.step),
        }
        return message(header)
