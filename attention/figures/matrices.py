"""Matrices in a row with what stands between them, and buttons that resize typed ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypedDict

import torch

from attention.figures import files
from attention.figures.matrix import Matrix
from attention.figures.scene import Figure
from attention.figures.stacks import TypedMatrix


class MatrixHeader(TypedDict):
    name: str
    rows: int
    columns: int
    rowNames: list[str]
    columnNames: list[str]
    kind: str
    lights: str
    masked: bool
    most: float
    whole: bool
    texts: list[str | None]  # of cells that can be typed into, none: of none


class MatricesHeader(TypedDict):
    parts: list[MatrixHeader]
    joins: list[str]
    chosen: tuple[int, int] | None
    pickable: bool
    written: int | None


class TypedCell(TypedDict):
    """Text typed into a cell of one of the matrices, by their positions."""

    matrix: int
    row: int
    column: int
    text: str


@dataclass(frozen=True, eq=False)
class Matrices(
    Figure, kind="matrices", header=MatricesHeader, cell=tuple[int, int], typed=TypedCell
):
    """Matrices in a row with what stands between them: `[Q, "×", K, "=", scores]`, or nothing.

    Numbers of a `TypedMatrix` can be typed over where they stand, which it answers as `typed`.
    Pointing at a cell of the last one, the result, lights what it is made from (`Matrix.lights`).
    pickable: whether its cells can be chosen, by click or arrow keys, which it answers as `cell`;
    chosen: the (row, column) lit meanwhile. written: up to how many columns numbers are written
    rather than painted, where that is not the usual 8. of: what the files say the matrices are of,
    where a page has several of a name.
    """

    parts: Sequence[Matrix | str]
    chosen: tuple[int, int] | None = None
    pickable: bool = False
    written: int | None = None
    of: str = ""

    @property
    def matrices(self) -> list[Matrix]:
        """The matrices alone; the last is the result."""
        return [part for part in self.parts if isinstance(part, Matrix)]

    def has(self, cell: Sequence[int]) -> bool:
        """True if a cell is one of the result."""
        rows, columns = self.matrices[-1].numbers.shape
        return cell[0] in range(rows) and cell[1] in range(columns)

    def place_of(self, typed: TypedCell) -> tuple[str, int] | None:
        """The stack, by its name, and the place in it that a cell was typed into; None for none."""
        at, row, column = typed["matrix"], typed["row"], typed["column"]
        matrix = self.matrices[at] if at in range(len(self.matrices)) else None
        if not isinstance(matrix, TypedMatrix) or matrix.places is None:
            return None
        rows, columns = matrix.places.shape
        if row not in range(rows) or column not in range(columns):
            return None
        return matrix.stack, int(matrix.places[row, column])

    def is_typed(self, typed: TypedCell) -> bool:
        """True if a cell can be typed into."""
        return self.place_of(typed) is not None

    def content(self) -> bytes:
        headers: list[MatrixHeader] = []
        numbers = []
        for matrix in self.matrices:
            cells = matrix.numbers.detach().float()
            if matrix.allowed is not None:
                cells = cells.masked_fill(~matrix.allowed, torch.nan)
            texts = matrix.texts if isinstance(matrix, TypedMatrix) else ()
            headers.append(
                {
                    "name": matrix.name,
                    "rows": cells.shape[0],
                    "columns": cells.shape[1],
                    "rowNames": list(matrix.row_names),
                    "columnNames": list(matrix.column_names),
                    "kind": matrix.kind,
                    "lights": "cell" if matrix is self.matrices[-1] else matrix.lights,
                    "masked": matrix.allowed is not None,
                    "most": matrix.most or matrix.greatest or 1.0,
                    "whole": matrix.whole,
                    "texts": [text for row in texts for text in row],
                }
            )
            numbers.append(cells.flatten())
        joins = [part for part in self.parts if isinstance(part, str)]
        return self.sent(*numbers, parts=headers, joins=joins)

    def offer(self) -> None:
        for matrix in self.matrices:
            names = matrix.row_names, matrix.column_names
            files.offer_matrix(matrix.name, matrix.numbers, *names, matrix.allowed, self.of)


class Changes(TypedDict):
    """The changes of a stack: its name, what is seen of it, and those that can be made."""

    stack: str
    label: str
    changes: Mapping[str, bool]


class Resized(TypedDict):
    """A change to a stack."""

    stack: str
    change: str


@dataclass(frozen=True, eq=False)
class Sizes(Figure, kind="sizes", resized=Resized):
    """Buttons that give stacks another row, column or matrix, or take the last one away."""

    stacks: Sequence[Changes]

    def has(self, change: Resized) -> bool:
        """True if a change is one of those that there are for a stack."""
        return any(
            change["stack"] == its["stack"] and change["change"] in its["changes"]
            for its in self.stacks
        )
