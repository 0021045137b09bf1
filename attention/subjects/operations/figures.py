"""Figures of Operations' own: buttons that resize what is typed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict

from attention.figures.scene import Figure


class Changes(TypedDict):
    """The changes of one stack: its name, what is seen of it, and those that can be made."""

    stack: str
    label: str
    changes: Sequence[str]
    possible: Sequence[bool]


class Resized(TypedDict):
    """A change of `CHANGES` to a stack."""

    stack: str
    change: str


@dataclass(frozen=True, eq=False)
class Sizes(Figure, kind="sizes", resized=Resized):
    """Buttons that give stacks another row, column or matrix, or take the last one away."""

    stacks: Sequence[Changes]
