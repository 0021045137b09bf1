"""Matrices as text, to the last bit and with clear words; and matrices to be shown."""

from __future__ import annotations

import math
import re
import struct
from typing import Any

import pytest
import torch
from torch import Tensor

from attention.display.matrix import (
    MAX_CELLS,
    MAX_SIZE,
    Matrix,
    MatrixError,
    cells,
    read_matrix,
    read_stack,
    write_matrix,
)
from tests.cases import over
from tests.hostile import HOSTILE
from tests.properties import given, settings
from tests.properties import strategies as st

finite = st.floats(width=32, min_value=-MAX_SIZE, max_value=MAX_SIZE)


@st.composite
def stacks(draw: st.DrawFn) -> Tensor:
    batch, rows, columns = (draw(st.integers(1, 3)) for _ in range(3))
    count = batch * rows * columns
    numbers = draw(st.lists(finite, min_size=count, max_size=count))
    return torch.tensor(numbers, dtype=torch.float32).reshape(batch, rows, columns)


def bits(numbers: Tensor) -> list[bytes]:
    """The float32 bits, by which -0 is not 0."""
    return [struct.pack("<f", number) for number in numbers.flatten().tolist()]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 2 3; 4 5 6", [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]),
        ("7", [[7.0]]),
        ("1,2;3,4", [[1.0, 2.0], [3.0, 4.0]]),
        ("  1 ,  2 ;\n 3\t4 ; ", [[1.0, 2.0], [3.0, 4.0]]),
        (";1 2;", [[1.0, 2.0]]),
        ("-1.5 +2 .5 1e-3", [[-1.5, 2.0, 0.5, 0.001]]),
        ("1000000 -1e6", [[1e6, -1e6]]),
        ("1; 2; 3", [[1.0], [2.0], [3.0]]),
    ],
)
def test_semicolons_part_rows_and_spaces_or_commas_part_numbers(
    text: str, expected: list[list[float]]
) -> None:
    matrix = read_matrix(text)
    assert matrix.dtype == torch.float32
    assert torch.equal(matrix, torch.tensor(expected))


def test_an_underscore_keeps_the_place_of_an_empty_cell() -> None:
    assert cells(" 1 _ 3") == ["1", "", "3"]
    assert cells("1,,3") == ["1", "", "3"]
    assert cells("") == [""]


@pytest.mark.parametrize(
    ("text", "words", "row", "column"),
    [
        ("", "there are no numbers yet", None, None),
        (" ; ; ", "there are no numbers yet", None, None),
        (";", "there are no numbers yet", None, None),
        ("_", "there are no numbers yet", None, None),
        ("1 2; 3 _", "row 1, column 1 is empty: a number is needed", 1, 1),
        ("1 2; ; 3 4", "row 1, column 0 is empty: a number is needed", 1, 0),
        ("1,,3", "row 0, column 1 is empty: a number is needed", 0, 1),
        ("1 2; 3 cat", "row 1, column 1 holds 'cat', which is no number", 1, 1),
        ("0x1F", "row 0, column 0 holds '0x1F', which is no number", 0, 0),
        ("1 1e", "row 0, column 1 holds '1e', which is no number", 0, 1),
        ("1 2\x00", "row 0, column 1 holds '2\\x00', which is no number", 0, 1),
        ("1 2 | 3 4", "row 0, column 2 holds '|', which is no number", 0, 2),
        ("1; nan", "row 1, column 0 must lie within ±1e+06, got nan", 1, 0),
        ("1 2 -inf", "row 0, column 2 must lie within ±1e+06, got -inf", 0, 2),
        ("1e999", "row 0, column 0 must lie within ±1e+06, got 1e999", 0, 0),
        ("1000001", "row 0, column 0 must lie within ±1e+06, got 1000001", 0, 0),
        ("1 2; 3", "row 1 has 1 numbers, the rows above have 2", 1, None),
        ("1 2; 3 4; 5 6 7", "row 2 has 3 numbers, the rows above have 2", 2, None),
    ],
)
def test_a_misprint_says_what_is_wrong_and_where(
    text: str, words: str, row: int | None, column: int | None
) -> None:
    with pytest.raises(MatrixError, match=f"^{re.escape(words)}$") as caught:
        read_matrix(text)
    assert (caught.value.row, caught.value.column) == (row, column)


def test_as_many_cells_as_can_be_edited_are_read_and_no_more() -> None:
    assert read_matrix("; ".join(["1 2"] * (MAX_CELLS // 2))).numel() == MAX_CELLS == 400
    words = "a matrix to edit has at most 400 cells, got 3 × 137"
    with pytest.raises(MatrixError, match=words) as caught:
        read_matrix("; ".join(["1 " * 137] * 3))
    assert (caught.value.row, caught.value.column) == (None, None)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1 2 | 3", r"all matrices of a stack must have one shape, got \[\("),
        ("1; 2 | 3 4", r"all matrices of a stack must have one shape, got \[\("),
        ("1 2 |", "there are no numbers yet"),
        ("1 | x", "row 0, column 0 holds 'x', which is no number"),
    ],
)
def test_a_stack_with_a_misprint_or_of_different_shapes_is_refused(text: str, words: str) -> None:
    with pytest.raises(MatrixError, match=words):
        read_stack(text)


@over("text", HOSTILE)
def test_hostile_text_is_a_misprint_and_nothing_else(text: str) -> None:
    for read in (read_matrix, read_stack):
        with pytest.raises(MatrixError) as caught:
            read(text)
        assert len(str(caught.value)) < 200


near = st.text(alphabet="0123456789.eE+-_;|, \t\n\x00xna∞١", max_size=40)


@given(text=near | st.text(max_size=40))
@settings(deadline=None, max_examples=150)
def test_any_text_is_a_finite_matrix_or_a_misprint(text: str) -> None:
    try:
        stack = read_stack(text)
    except MatrixError:
        return
    assert stack.dim() == 3
    assert stack.numel() > 0
    assert stack.isfinite().all()
    assert stack.abs().max() <= MAX_SIZE


@given(stack=stacks())
@settings(deadline=None, max_examples=100)
def test_what_is_written_is_read_back_to_the_last_bit(stack: Tensor) -> None:
    back = read_stack(" | ".join(map(write_matrix, stack)))
    assert back.shape == stack.shape
    assert bits(back) == bits(stack)


def test_a_matrix_to_be_shown_has_two_dimensions() -> None:
    assert Matrix("Q", torch.zeros(3, 5)).numbers.shape == (3, 5)
    for shape in ((3,), (2, 3, 5), ()):
        with pytest.raises(ValueError, match=r"Q must have 2 dimensions to be shown, got \("):
            Matrix("Q", torch.zeros(shape))


@pytest.mark.parametrize(
    ("numbers", "kind", "shown"),
    [
        ([[1.0, -2.0]], "signed", "−2"),
        ([[1.0, 0.5]], "signed", "−2.0000"),
        ([[1.0, 0.0]], "share", "−2.0000"),
        ([[1.0, 1e6]], "signed", "−2.0000"),
        ([[1.0, math.nan]], "signed", "−2"),
        ([[math.inf, 0.5]], "signed", "−2.0000"),
    ],
)
def test_a_matrix_of_integers_writes_them_as_such(numbers: Any, kind: Any, shown: str) -> None:
    assert Matrix("M", torch.tensor(numbers), kind=kind).write(-2.0) == shown
