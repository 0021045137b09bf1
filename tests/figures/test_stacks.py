"""Cells of stacks as typed: each in its place, whatever it holds."""

from __future__ import annotations

import torch

from attention.figures.matrices import Matrices
from attention.figures.stacks import MAX_NUMBERS, typed_stack, with_cell
from tests.hostile import HOSTILE
from tests.properties import given
from tests.properties import strategies as st

anything = st.text("0123456789 .;|,-_e", max_size=30) | st.sampled_from(HOSTILE)


def test_cells_of_a_stack_have_places_and_what_a_row_lacks_is_empty() -> None:
    stack = typed_stack("x", "1 cat; 3 | 5 6; 7 8")
    assert stack is not None
    assert stack.cells == ["1", "cat", "3", "", "5", "6", "7", "8"]
    assert stack.places.tolist() == [[[0, 1], [2, 3]], [[4, 5], [6, 7]]]
    matrix = stack.matrix("x[0]", stack.places[0])
    assert matrix.texts == [["1", "cat"], ["3", ""]]
    assert matrix.numbers.nan_to_num(99).tolist() == [[1, 99], [3, 99]]
    assert with_cell("1 cat; 3 | 5 6; 7 8", 3, "4,5") == "1 cat; 3 4.5 | 5 6; 7 8"
    assert with_cell("1 2", 2, "4") == with_cell("1 2", -1, "4") == "1 2"


def test_rows_made_from_typed_ones_cannot_be_typed_over() -> None:
    stack = typed_stack("x", "2 4")
    assert stack is not None
    numbers = torch.tensor([[2.0, 4.0], [1.0, 2.0]])
    figure = Matrices([stack.matrix("x / T", stack.places[0], numbers=numbers)])
    at = {"matrix": 0, "row": 0, "column": 1, "text": "7"}
    assert figure.matrices[0].texts == [["2", "4"], [None, None]]
    assert figure.place_of(at) == ("x", 1)
    for beyond in ({"row": 1}, {"column": 2}, {"matrix": 1}, {"row": -1}, {"matrix": -1}):
        assert figure.place_of(at | beyond) is None


@given(text=anything, place=st.integers(-2, 160), typed=anything)
def test_whatever_is_typed_changes_one_cell(text: str, place: int, typed: str) -> None:
    before = typed_stack("x", text)
    written = with_cell(text, place, typed)
    if before is None or place not in range(len(before.cells)):
        assert written == text
        return
    after = typed_stack("x", written)
    assert after is not None
    assert torch.equal(after.places, before.places)
    changed = [
        at
        for at, pair in enumerate(zip(before.cells, after.cells, strict=True))
        if len({*pair}) > 1
    ]
    assert changed in ([], [place])
    assert len(after.cells[place]) <= 20


def test_texts_with_too_many_cells_are_not_shown() -> None:
    assert typed_stack("x", " ".join("1" * MAX_NUMBERS)) is not None
    for text in (" ".join("1" * (MAX_NUMBERS + 1)), "|" * 4000, ";1" * 2000 + " 1" * 2000):
        assert typed_stack("x", text) is None
