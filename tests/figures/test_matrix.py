"""Matrices as text, to the last bit and with clear words; and matrices to be shown."""

from __future__ import annotations

import math
import re
import struct
from typing import Any

import pytest
import torch
from torch import Tensor

from attention.figures.matrices import Matrices
from attention.figures.matrix import (
    MAX_CELLS,
    MAX_SIZE,
    Matrix,
    MatrixError,
    cells,
    read_matrix,
    read_stack,
    write_matrix,
)
from attention.figures.stacks import MAX_NUMBERS, typed_stack, with_cell
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


READ: dict[str, list[list[float]]] = {
    **{"1 2 3; 4 5 6": [[1, 2, 3], [4, 5, 6]], "7": [[7]], "1,2;3,4": [[1, 2], [3, 4]]},
    **{"  1 ,  2 ;\n 3\t4 ; ": [[1, 2], [3, 4]], ";1 2;": [[1, 2]], "1; 2; 3": [[1], [2], [3]]},
    **{"-1.5 +2 .5 1e-3": [[-1.5, 2, 0.5, 0.001]], "1000000 -1e6": [[1e6, -1e6]]},
}


@over("text", READ)
def test_semicolons_part_rows_and_spaces_or_commas_part_numbers(text):
    matrix = read_matrix(text)
    assert matrix.dtype == torch.float32
    assert torch.equal(matrix, torch.tensor(READ[text]).float())


def test_an_underscore_keeps_the_place_of_an_empty_cell():
    assert cells(" 1 _ 3") == ["1", "", "3"]
    assert cells("1,,3") == ["1", "", "3"]
    assert cells("") == [""]


NO_NUMBER = "row {}, column {} holds {!r}, which is no number"
BEYOND = "row {}, column {} must lie within ±1e+06, got {}"
EMPTY = "row {}, column {} is empty: a number is needed"
WIDER = "row {0} has {2} numbers, the rows above have 2"
MISPRINTS: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(("", " ; ; ", ";", "_"), ("there are no numbers yet", None, None)),
    **{"1 2; 3 _": (EMPTY, 1, 1), "1 2; ; 3 4": (EMPTY, 1, 0), "1,,3": (EMPTY, 0, 1)},
    **{"1 2; 3 cat": (NO_NUMBER, 1, 1, "cat"), "0x1F": (NO_NUMBER, 0, 0, "0x1F")},
    **{"1 1e": (NO_NUMBER, 0, 1, "1e"), "1 2\x00": (NO_NUMBER, 0, 1, "2\x00")},
    **{"1 2 | 3 4": (NO_NUMBER, 0, 2, "|"), "1; nan": (BEYOND, 1, 0, "nan")},
    **{"1 2 -inf": (BEYOND, 0, 2, "-inf"), "1e999": (BEYOND, 0, 0, "1e999")},
    **{"1000001": (BEYOND, 0, 0, "1000001"), "1 2; 3": (WIDER, 1, None, 1)},
    "1 2; 3 4; 5 6 7": (WIDER, 2, None, 3),
}


@over("text", MISPRINTS)
def test_a_misprint_says_what_is_wrong_and_where(text):
    words, *place = MISPRINTS[text]
    with pytest.raises(MatrixError, match=f"^{re.escape(words.format(*place))}$"):
        read_matrix(text)


def test_as_many_cells_as_can_be_edited_are_read_and_no_more():
    assert read_matrix("; ".join(["1 2"] * (MAX_CELLS // 2))).numel() == MAX_CELLS == 400
    words = "a matrix to edit has at most 400 cells, got 3 × 137"
    with pytest.raises(MatrixError, match=words):
        read_matrix("; ".join(["1 " * 137] * 3))


def test_a_stack_with_a_misprint_or_of_different_shapes_is_refused():
    shapes = r"all matrices of a stack must have one shape, got \[\("
    wrong = {"1 2 | 3": shapes, "1; 2 | 3 4": shapes, "1 2 |": "there are no numbers yet"}
    for text, words in (wrong | {"1 | x": "row 0, column 0 holds 'x', which is no"}).items():
        with pytest.raises(MatrixError, match=words):
            read_stack(text)


near = st.text(alphabet="0123456789.eE+-_;|, \t\n\x00xna∞١", max_size=40)


@given(text=near | st.text(max_size=40))
@settings(deadline=None, max_examples=150)
def test_any_text_is_a_finite_matrix_or_a_misprint(text):
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
def test_what_is_written_is_read_back_to_the_last_bit(stack):
    back = read_stack(" | ".join(map(write_matrix, stack)))
    assert back.shape == stack.shape
    assert bits(back) == bits(stack)


def test_a_matrix_to_be_shown_has_two_dimensions_and_integers_are_written_as_such():
    assert Matrix("Q", torch.zeros(3, 5)).numbers.shape == (3, 5)
    for shape in ((3,), (2, 3, 5), ()):
        with pytest.raises(ValueError, match=r"Q must have 2 dimensions to be shown, got \("):
            Matrix("Q", torch.zeros(shape))
    for kind, first, second, shown in (
        *(("signed", 1.0, -2.0, "−2"), ("signed", 1.0, 0.5, "−2.0000")),
        *(("share", 1.0, 0.0, "−2.0000"), ("signed", 1.0, 1e6, "−2.0000")),
        *(("signed", 1.0, math.nan, "−2"), ("signed", math.inf, 0.5, "−2.0000")),
    ):
        matrix = Matrix("M", torch.tensor([[first, second]]), kind=kind)
        assert matrix.write(-2.0) == shown


# Cells of stacks as typed: each in its place, whatever it holds


anything = st.text("0123456789 .;|,-_e", max_size=30) | st.sampled_from(HOSTILE)


def test_cells_of_a_stack_have_places_and_what_a_row_lacks_is_empty():
    stack = typed_stack("x", "1 cat; 3 | 5 6; 7 8")
    assert stack.cells == ["1", "cat", "3", "", "5", "6", "7", "8"]
    assert stack.places.tolist() == [[[0, 1], [2, 3]], [[4, 5], [6, 7]]]
    matrix = stack.matrix("x[0]", stack.places[0])
    assert matrix.texts == [["1", "cat"], ["3", ""]]
    assert matrix.numbers.nan_to_num(99).tolist() == [[1, 99], [3, 99]]
    assert with_cell("1 cat; 3 | 5 6; 7 8", 3, "4,5") == "1 cat; 3 4.5 | 5 6; 7 8"
    assert with_cell("1 2", 2, "4") == with_cell("1 2", -1, "4") == "1 2"


def test_rows_made_from_typed_ones_cannot_be_typed_over():
    stack = typed_stack("x", "2 4")
    numbers = torch.tensor([[2.0, 4.0], [1.0, 2.0]])
    figure = Matrices([stack.matrix("x / T", stack.places[0], numbers=numbers)])
    at = {"matrix": 0, "row": 0, "column": 1, "text": "7"}
    assert figure.matrices[0].texts == [["2", "4"], [None, None]]
    assert figure.place_of(at) == ("x", 1)
    for beyond in ({"row": 1}, {"column": 2}, {"matrix": 1}, {"row": -1}, {"matrix": -1}):
        assert figure.place_of(at | beyond) is None


@given(text=anything, place=st.integers(-2, 160), typed=anything)
def test_whatever_is_typed_changes_one_cell(text, place, typed):
    before = typed_stack("x", text)
    written = with_cell(text, place, typed)
    if before is None or place not in range(len(before.cells)):
        assert written == text
        return
    after = typed_stack("x", written)
    assert torch.equal(after.places, before.places)
    changed = [
        at
        for at, pair in enumerate(zip(before.cells, after.cells, strict=True))
        if len({*pair}) > 1
    ]
    assert changed in ([], [place])
    assert len(after.cells[place]) <= 20


def test_texts_with_too_many_cells_are_not_shown():
    assert typed_stack("x", " ".join("1" * MAX_NUMBERS)) is not None
    for text in (" ".join("1" * (MAX_NUMBERS + 1)), "|" * 4000, ";1" * 2000 + " 1" * 2000):
        assert typed_stack("x", text) is None
