"""Stacks of matrices as text: read into tensors, typed into where they stand, resized."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from attention.figures.matrix import (
    Matrix,
    MatrixError,
    cells,
    one_cell,
    read_matrix,
    read_stack,
)

MAX_MATRICES, MAX_NUMBERS, MAX_TEXT = 10, 144, 4000


HELP = "Rows apart by semicolons, numbers by spaces, matrices of a stack by |: 1 2; 3 4 | 5 6; 7 8."


def read_numbers(name: str, text: str) -> Tensor:
    """The (batch, rows, columns) tensor the text of input `name` writes. Raises MatrixError."""
    parts = text.split("|")
    if len(parts) > MAX_MATRICES:
        raise MatrixError(
            f"{name}: a stack has at most {MAX_MATRICES} matrices here, got {len(parts)}"
        )
    for index, part in enumerate(parts):
        try:
            read_matrix(part)
        except MatrixError as error:
            where = f"{name}[{index}]" if len(parts) > 1 else name
            raise MatrixError(f"{where}: {error}") from None
    try:
        stack = read_stack(text)
    except MatrixError as error:
        raise MatrixError(f"{name}: {error}") from None
    if stack.numel() > MAX_NUMBERS:
        raise MatrixError(f"{name} has at most {MAX_NUMBERS} numbers here, got {stack.numel()}")
    return stack + 0.0  # −0.0 + 0.0 is 0.0


def read_row(name: str, text: str) -> Tensor:
    """The (columns,) tensor of a text with one row. Raises MatrixError."""
    stack = read_numbers(name, text)
    if stack.shape[:2] != (1, 1):
        raise MatrixError(f"{name} is one row of numbers, got shape {tuple(stack.shape)}")
    return stack[0, 0]


STACK = ("+ row", "− row", "+ column", "− column", "+ matrix", "− matrix")


def resized(text: str, change: str, most: int = MAX_NUMBERS) -> str | None:
    """The text of a stack after one of the changes in `STACK`, None where it cannot be made.

    A row, or a column, comes to or leaves every matrix of the stack; what is new is 0. most: as in
    `typed_stack`.
    """
    stack = _split(text)
    sign, _, what = change.partition(" ")
    if what == "matrix":
        stack = [*stack, stack[-1]] if sign == "+" else stack[:-1]
    elif what == "row":
        stack = [[*m, ["0"] * len(m[-1])] if sign == "+" else m[:-1] for m in stack]
    else:
        stack = [[[*row, "0"] if sign == "+" else row[:-1] for row in m] for m in stack]
    if not stack or not all(stack) or not all(row for matrix in stack for row in matrix):
        return None
    written = _joined(stack)
    return written if typed_stack("", written, most) else None


def _split(text: str) -> list[list[list[str]]]:
    """The cells of a stack by matrix and row, whatever they hold; an empty one as `_`."""
    return [
        [[cell or "_" for cell in cells(line)] for line in part.strip().strip(";").split(";")]
        for part in text.split("|")
    ]


def _joined(stack: Sequence[Sequence[Sequence[str]]]) -> str:
    return " | ".join("; ".join(map(" ".join, matrix)) for matrix in stack)


# Typing: the cells of a stack stand in the matrices that are shown


@dataclass(frozen=True, eq=False)
class TypedMatrix(Matrix):
    """A matrix of which numbers are typed.

    stack: the name of the text that they stand in; texts: (rows, columns) as they stand there, None
    = made from others, not to be typed; places: (rows, columns) int64, where each stands among all
    cells of that text, from 0.
    """

    stack: str = ""
    texts: Sequence[Sequence[str | None]] = ()
    places: Tensor | None = None


@dataclass(frozen=True, eq=False)
class TypedStack:
    """Cells of a stack as typed, whatever they hold; what a shorter row lacks is empty.

    name: of the text; cells: in order; places: (batch, rows, columns) int64, their positions.
    """

    name: str
    cells: Sequence[str]
    places: Tensor

    def matrix(self, name: str, places: Tensor, **about: Any) -> TypedMatrix:
        """A matrix of the cells at places (rows, columns); about: further fields of `Matrix`.

        Cells that are no number are NaN. Further rows in `numbers`, where it is given, are made
        from those that are typed.
        """
        texts: list[list[str | None]] = [[self.cells[at] for at in row] for row in places.tolist()]
        typed = [[_number_or_nan(self.cells[at]) for at in row] for row in places.tolist()]
        numbers = about.pop("numbers", torch.tensor(typed) + 0.0)  # −0.0 + 0.0 is 0.0
        texts += [[None] * numbers.shape[1]] * (len(numbers) - len(texts))
        return TypedMatrix(name, numbers, **about, stack=self.name, texts=texts, places=places)

    def every(self, label: str) -> list[Matrix]:
        """All its matrices, numbered behind the label where there are several."""
        several = len(self.places) > 1
        return [
            self.matrix(f"{label}[{at}]" if several else label, places)
            for at, places in enumerate(self.places)
        ]


def typed_stack(name: str, text: str, most: int = MAX_NUMBERS) -> TypedStack | None:
    """The cells that a text holds; None where there are too many to be shown, more than `most`."""
    stack = _split(text)
    rows, columns = max(map(len, stack)), max(len(row) for matrix in stack for row in matrix)
    if len(stack) > MAX_MATRICES or len(stack) * rows * columns > most:
        return None
    padded = [
        [[*row, *["_"] * (columns - len(row))] for row in [*m, *[[]] * (rows - len(m))]]
        for m in stack
    ]
    every = ["" if cell == "_" else cell for matrix in padded for row in matrix for cell in row]
    return TypedStack(name, every, torch.arange(len(every)).view(len(stack), rows, columns))


def with_cell(text: str, place: int, typed: str, most: int = MAX_NUMBERS) -> str:
    """The text of a stack in which another number was typed at a place of its `TypedStack`."""
    stack = typed_stack("", text, most)
    if stack is None or place not in range(len(stack.cells)):
        return text
    every = [cell or "_" for cell in stack.cells]
    every[place] = one_cell(typed)
    return _joined([[[every[at] for at in row] for row in m] for m in stack.places.tolist()])


def _number_or_nan(cell: str) -> float:
    try:
        return float(read_matrix(cell))
    except MatrixError:
        return math.nan
