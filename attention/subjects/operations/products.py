"""Batched matrix multiplication and transposing: by the definition and by torch."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import product

import torch
from torch import Tensor

from attention.figures.matrix import Matrix
from attention.figures.stacks import read_numbers
from attention.figures.tables import whole_number
from attention.figures.working import Working
from attention.subjects.operations.answers import (
    DIMS,
    Made,
    Refused,
    names_of,
    shape_of,
    side_by_side,
    undrawn,
)
from attention.subjects.operations.settings import OperationSettings, typed


def bmm(a: Tensor, b: Tensor) -> Tensor:
    """`C_bij = Σ_m A_bim B_bmj`. a: (batch, n, m); b: (batch, m, p). Returns (batch, n, p)."""
    return (a[:, :, :, None] * b[:, None, :, :]).sum(2)


def transpose(x: Tensor, first: int, second: int) -> Tensor:
    """x with two dimensions in each other's place, number by number."""
    order = list(range(x.dim()))
    order[first], order[second] = order[second], order[first]
    swapped = torch.empty([x.shape[dim] for dim in order])
    for index in product(*map(range, x.shape)):
        swapped[tuple(index[dim] for dim in order)] = x[index]
    return swapped


def make_bmm(settings: OperationSettings) -> Made | Refused:
    a, b = read_numbers("A", settings.bmm_a), read_numbers("B", settings.bmm_b)
    call = "torch.bmm(a, b)"
    shapes = f"{shape_of(a)} × {shape_of(b)}"
    try:
        torchs = torch.bmm(a, b)
    except RuntimeError as error:
        return _no_meeting(a, b, call, str(error))
    ours = bmm(a, b)
    names = [names_of(name, stack) for name, stack in (("A", a), ("B", b), ("C", ours))]
    of_a, of_b = typed(settings, "bmm_a"), typed(settings, "bmm_b")

    return Made(
        f"{shapes} → {shape_of(ours)}: the two {a.shape[2]}s meet and are gone.",
        [
            [
                of_a.matrix(names[0][batch], of_a.places[batch], lights="row"),
                "×",
                of_b.matrix(names[1][batch], of_b.places[batch], lights="column"),
                "=",
                Matrix(names[2][batch], ours[batch]),
            ]
            for batch in range(len(a))
        ],
        "Point at a cell of C to see which row meets which column; choose it for its sum.",
        partial(row_by_column, ("A", "B", "C"), a, b, "m ="),
        call,
        ours,
        torchs,
        side_by_side("torch.bmm(a, b)", torchs),
    )


def row_by_column(
    called: Sequence[str], a: Tensor, b: Tensor, term: str, batch: int, row: int, column: int
) -> Working:
    """The working of one number of a product. called: a, b and the product; term: of the sum."""
    left, right = a[batch, row], b[batch, :, column]
    x, y, product = (names_of(name, a)[batch] for name in called)
    return Working(
        f"{product} in row {row}, column {column}: row {row} of {x} meets column {column} of {y}, "
        "number by number.",
        [f"{term} {m}" for m in range(len(left))],
        {
            f"row {row} of {called[0]}": left.tolist(),
            f"column {column} of {called[1]}": right.tolist(),
            "product": (left * right + 0.0).tolist(),  # −0.0 + 0.0 is 0.0
        },
        totals=["sum", "", "", whole_number(float((left * right).sum()))],
    )


def _no_meeting(a: Tensor, b: Tensor, call: str, torch_says: str) -> Refused:
    """Refuse sizes that do not agree, with the row and the column that cannot meet."""
    (matrices, _, width), (others, height, _) = a.shape, b.shape
    words = [f"{shape_of(a)} × {shape_of(b)} cannot be multiplied."]
    if matrices != others:
        words.append(
            f"Each matrix of A needs its own partner in B: A has {matrices}, B has {others}."
        )
    if width == height:
        return Refused(words, call, torch_says)
    words.append(
        f"Each number in a row of A meets one in a column of B: a row of A has {width} (its "
        f"columns), a column of B has {height} (its rows). These two must be the same."
    )
    left, right = a[0, 0].tolist(), b[0, :, 0].tolist()
    length = max(width, height)
    terms = [
        left[m] * right[m] + 0.0 if m < min(width, height) else "no partner" for m in range(length)
    ]
    columns: dict[str, Sequence[float | str | None]] = {
        "row 0 of A": left + [None] * (length - width),
        "column 0 of B": right + [None] * (length - height),
        "product": terms,
    }
    names = [f"m = {m}" for m in range(length)]
    worked = Working("Where the first row of A should meet the first column of B:", names, columns)
    return Refused(words, call, torch_says, worked)


def make_transpose(settings: OperationSettings) -> Made:
    x = read_numbers("x", settings.transpose_x)
    first, second = map(int, settings.transpose_dims.split("-"))
    ours, torchs = transpose(x, first, second), x.transpose(first, second)
    call = f"x.transpose({first}, {second})"
    in_place = first == 1

    def working(batch: int, row: int, column: int) -> Working:
        index = [batch, row, column]
        source = list(index)
        source[first], source[second] = source[second], source[first]
        rows = []
        for indices, strides in ((index, torchs.stride()), (source, x.stride())):
            walked = [at * stride for at, stride in zip(indices, strides, strict=True)]
            rows += [[*indices, ""], [*strides, ""], [*walked, sum(walked)]]
        columns = zip(*rows, strict=True)
        return Working(
            f"result{index} is x{source}, {whole_number(float(ours[batch, row, column]))}: torch "
            "moves no number, and by the swapped strides both ways lead to the same position.",
            ["index in result", "× stride", "=", "index in x", "× stride", "="],
            {
                name: [str(cell) for cell in column]
                for name, column in zip((*DIMS, "position"), columns, strict=True)
            },
        )

    results: list[list[Matrix | str]] = [
        [Matrix(name, matrix)] for name, matrix in zip(names_of("result", ours), ours, strict=False)
    ]
    if in_place:
        of_x = typed(settings, "transpose_x")
        for name, places, parts in zip(names_of("x", x), of_x.places, results, strict=True):
            parts[:0] = [of_x.matrix(name, places, lights="column of the row"), "→"]
    return Made(
        f"{shape_of(x)} → {shape_of(ours)}: {DIMS[first]} and {DIMS[second]} change places.",
        results,
        "Choose a cell to see where it comes from.",
        working,
        call,
        ours,
        torchs,
        side_by_side(call, torchs),
        undrawn(ours),
    )
