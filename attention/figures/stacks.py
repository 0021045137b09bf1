"""Stacks of matrices as text: read into tensors, edited as grids."""

from __future__ import annotations

from torch import Tensor

from attention.figures.matrix import MatrixError, cells, read_matrix, read_stack

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
            raise MatrixError(f"{where}: {error}", error.row, error.column) from None
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


def parts_of(text: str) -> list[str]:
    """The texts of the matrices of a stack, as many of them as are shown."""
    return [part.strip() for part in text.split("|")[:MAX_MATRICES]]


def fits_a_grid(part: str) -> bool:
    """True if a matrix has few enough cells to be edited one by one, whatever they hold."""
    return sum(len(cells(line)) for line in part.split(";")) <= MAX_NUMBERS


def with_part(text: str, index: int, part: str) -> str:
    """The text of a stack with matrix `index` replaced."""
    parts = [old.strip() for old in text.split("|")]
    parts[index] = part
    return " | ".join(parts)


def resized(text: str, change: str) -> str | None:
    """The text of a stack after one of the changes in `STACK`, None where it cannot be made.

    A row, or a column, comes to or leaves every matrix of the stack; what is new is 0.
    """
    stack = [
        [[cell or "_" for cell in cells(line)] for line in part.strip().strip(";").split(";")]
        for part in text.split("|")
    ]
    sign, _, what = change.partition(" ")
    if what == "matrix":
        stack = [*stack, stack[-1]] if sign == "+" else stack[:-1]
    elif what == "row":
        stack = [[*m, ["0"] * len(m[-1])] if sign == "+" else m[:-1] for m in stack]
    else:
        stack = [[[*row, "0"] if sign == "+" else row[:-1] for row in m] for m in stack]
    rows = [row for matrix in stack for row in matrix]
    empty = not stack or not all(stack) or not all(rows)
    if empty or len(stack) > MAX_MATRICES or sum(map(len, rows)) > MAX_NUMBERS:
        return None
    return " | ".join("; ".join(map(" ".join, matrix)) for matrix in stack)
