"""Matrices written as text in a link; what is shown of one is a `Matrix`.

The text of a matrix has its rows apart by `;` and its numbers apart by spaces or commas, matrices
of a stack apart by `|`: "1 2; 3 4 | 5 6; 7 8" is of shape (2, 2, 2).
"""

from __future__ import annotations

import math
import re

import torch
from torch import Tensor

from attention.core.matrix import Lights as Lights
from attention.core.matrix import Matrix as Matrix

MAX_CELLS = 400
MAX_SIZE = 1e6


class MatrixError(ValueError):
    """Text that is no matrix."""


def read_stack(text: str) -> Tensor:
    """The (batch, rows, columns) float32 tensor that `text` writes, or MatrixError."""
    matrices = [read_matrix(part) for part in text.split("|")]
    shapes = [tuple(matrix.shape) for matrix in matrices]
    if len(set(shapes)) > 1:
        raise MatrixError(f"all matrices of a stack must have one shape, got {shapes}")
    return torch.stack(matrices)


def read_matrix(text: str) -> Tensor:
    """The (rows, columns) float32 tensor that `text` writes.

    Raises MatrixError on an empty cell, a cell that is no number, rows of different lengths,
    nothing at all, and more than `MAX_CELLS` cells.
    """
    rows = [cells(line) for line in text.strip().strip(";").split(";")]
    if rows == [[""]]:
        raise MatrixError("there are no numbers yet")
    numbers = [
        [_number(cell, row, column) for column, cell in enumerate(line)]
        for row, line in enumerate(rows)
    ]
    width = len(numbers[0])
    for row, line in enumerate(numbers):
        if len(line) != width:
            raise MatrixError(f"row {row} has {len(line)} numbers, the rows above have {width}")
    if len(numbers) * width > MAX_CELLS:
        raise MatrixError(
            f"a matrix to edit has at most {MAX_CELLS} cells, got {len(numbers)} × {width}"
        )
    return torch.tensor(numbers, dtype=torch.float32)


def cells(line: str) -> list[str]:
    """The cells of one row of text; `_` stands for an empty one."""
    words = re.split(r"\s*,\s*|\s+", line.strip())
    return ["" if word == "_" else word for word in words]


def one_cell(typed: str) -> str:
    """Text typed into a cell as one cell of a matrix's text; 0,5 is meant as 0.5."""
    return re.sub(r"[\s;|]+", "", typed).replace(",", ".")[:20] or "_"


def _number(cell: str, row: int, column: int) -> float:
    cell_name = f"row {row}, column {column}"
    if not cell:
        raise MatrixError(f"{cell_name} is empty: a number is needed")
    try:
        number = float(cell)
    except ValueError:
        raise MatrixError(f"{cell_name} holds {cell[:20]!r}, which is no number") from None
    if not math.isfinite(number) or abs(number) > MAX_SIZE:
        raise MatrixError(f"{cell_name} must lie within ±{MAX_SIZE:g}, got {cell[:20]}")
    return number


def write_matrix(numbers: Tensor) -> str:
    """Text that `read_matrix` reads as this (rows, columns) tensor."""
    return "; ".join(" ".join(f"{number:.9g}" for number in row) for row in numbers.tolist())
