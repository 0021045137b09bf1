"""Inputs of the operations: settings as text, read into tensors, edited as grids."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from attention.core.settings import choice, decimal, text, whole
from attention.display.matrix import MatrixError, cells, read_matrix, read_stack

MAX_MATRICES, MAX_NUMBERS, MAX_TEXT = 10, 144, 4000
HELP = "Rows apart by semicolons, numbers by spaces, matrices of a stack by |: 1 2; 3 4 | 5 6; 7 8."


@dataclass(frozen=True)
class OperationSettings:
    """Settings of the page "Operations"; the last three say which cell is explained."""

    operation: str = choice(
        "bmm",
        "Operation",
        ("bmm", "transpose", "softmax", "temperature", "sequence_mask", "masked_softmax"),
    )
    bmm_a: str = text(
        "1 2 3; 4 5 6 | 1 0 -1; 2 2 0", "A", MAX_TEXT, when=("operation", "bmm"), help=HELP
    )
    bmm_b: str = text(
        "1 0; 0 1; 2 -1 | 3 1; 0 2; 1 1", "B", MAX_TEXT, when=("operation", "bmm"), help=HELP
    )
    transpose_x: str = text(
        "1 2 3; 4 5 6 | 7 8 9; 10 11 12", "x", MAX_TEXT, when=("operation", "transpose"), help=HELP
    )
    transpose_dims: str = choice(
        "1-2",
        "Dimensions that change places",
        ("1-2", "0-1", "0-2"),
        when=("operation", "transpose"),
    )
    softmax_x: str = text(
        "1 2 3; 3 2 1 | 0 0 4; 1 1 1", "x", MAX_TEXT, when=("operation", "softmax"), help=HELP
    )
    softmax_dim: str = choice(
        "2",
        "Along dim",
        ("0", "1", "2"),
        when=("operation", "softmax"),
        help="The index that runs over the numbers which share one sum.",
    )
    temperature_x: str = text(
        "2 1 0 -1",
        "x",
        MAX_TEXT,
        when=("operation", "temperature"),
        help="One row of numbers, with spaces between: 2 1 0 -1.",
    )
    temperature: float = decimal(
        0.5, "Temperature T", 0.05, 10.0, 0.05, when=("operation", "temperature")
    )
    mask_keys: int = whole(4, "Keys", 1, 16, when=("operation", "sequence_mask"))
    masked_scores: str = text(
        "0 1 2 3; 3 2 1 0 | 1 1 1 1; 0 0 0 10",
        "scores",
        MAX_TEXT,
        when=("operation", "masked_softmax"),
        help=HELP,
    )
    lens_dim: str = choice(
        "1-D",
        "Valid lengths",
        ("1-D", "2-D"),
        help="1-D: a length for each sequence. 2-D: a length for each query of each sequence.",
    )
    valid_lens: str = text(
        "2 3",
        "valid_lens",
        MAX_TEXT,
        when=("lens_dim", "1-D"),
        help="One row, a whole number for each sequence of the batch: 2 3.",
    )
    valid_lens_2d: str = text(
        "1 3; 2 4",
        "valid_lens",
        MAX_TEXT,
        when=("lens_dim", "2-D"),
        help="A row for each sequence, a whole number for each of its queries: 1 3; 2 4.",
    )
    operation_batch: int = whole(0, "Matrix", 0, MAX_NUMBERS - 1)
    operation_row: int = whole(1, "Row", 0, MAX_NUMBERS - 1)
    operation_column: int = whole(0, "Column", 0, MAX_NUMBERS - 1)


# Reading


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


def read_lens(settings: OperationSettings) -> Tensor:
    """The valid lengths, (batch,) or (batch, queries), whole numbers. Raises MatrixError."""
    if settings.lens_dim == "1-D":
        lens = read_row("valid_lens", settings.valid_lens)
    else:
        stack = read_numbers("valid_lens", settings.valid_lens_2d)
        if len(stack) != 1:
            raise MatrixError("valid_lens is one matrix, a row for each sequence: leave out the |")
        lens = stack[0]
    if bool((lens != lens.round()).any() or (lens < 0).any()):
        wrong = next(x for x in lens.flatten().tolist() if x != round(x) or x < 0)
        raise MatrixError(f"a valid length is a whole number from 0 up, got {wrong:g}")
    return lens.long()


# Editing: the text of a stack is shown as a grid a matrix

STACK = ("+ row", "− row", "+ column", "− column", "+ matrix", "− matrix")
CHANGES = {
    "bmm_a": STACK,
    "bmm_b": STACK,
    "transpose_x": STACK,
    "softmax_x": STACK,
    "temperature_x": STACK[2:4],
    "masked_scores": STACK,
    "valid_lens": STACK[2:4],
    "valid_lens_2d": STACK[:4],
}


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
