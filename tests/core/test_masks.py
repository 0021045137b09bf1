"""Masks by hand, and the notation of hidden cells."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from attention.core import masks
from tests.cases import over
from tests.hostile import HOSTILE
from tests.properties import given, hypothesis, settings
from tests.properties import strategies as st


def drawn(*rows: str) -> Tensor:
    """A mask as it looks: 1 = may attend."""
    return torch.tensor([[cell == "1" for cell in row] for row in rows])


@pytest.mark.parametrize(
    ("mask", "expected"),
    [
        (masks.causal(3, 5), drawn("10000", "11000", "11100")),
        (masks.causal(5, 3), drawn("100", "110", "111", "111", "111")),
        (masks.window(5, 5, 0), drawn("10000", "01000", "00100", "00010", "00001")),
        (masks.window(3, 5, 1), drawn("11000", "11100", "01110")),
        (masks.window(5, 3, 2), drawn("111", "111", "111", "011", "001")),
        (masks.window(3, 5, 7), drawn("11111", "11111", "11111")),
        (masks.causal(2, 5, 3), drawn("11110", "11111")),
        (masks.window(2, 5, 1, 3), drawn("00111", "00011")),
        (
            masks.padded(drawn("110", "000"), drawn("10", "11")),
            torch.stack([drawn("10", "10", "00"), drawn("00", "00", "00")]),
        ),
        (masks.lengths(torch.tensor([2, 0]), 3), torch.stack([drawn("110"), drawn("000")])),
        (masks.lengths(torch.tensor([7]), 3), drawn("111")[None]),
        (
            masks.lengths(torch.tensor([[1, 3], [0, 2]]), 3),
            torch.stack([drawn("100", "111"), drawn("000", "110")]),
        ),
        (masks.parse_cells("", 2, 3), drawn("111", "111")),
        (masks.parse_cells("0:1", 2, 3), drawn("101", "111")),
        (masks.parse_cells("0:1,3-5 2:*", 3, 7), drawn("1010001", "1111111", "0000000")),
        (masks.parse_cells("*:2 1:1-1", 2, 3), drawn("110", "100")),
        (masks.parse_cells("*:*", 2, 3), drawn("000", "000")),
        (masks.parse_cells(" 1:0\n0:0-1  0:1 ", 2, 3), drawn("001", "011")),
    ],
)
def test_masks_are_bool_and_as_drawn_by_hand(mask, expected):
    assert mask.dtype == torch.bool
    assert mask.tolist() == expected.tolist()


@pytest.mark.parametrize(
    "make",
    [
        lambda device: masks.causal(3, 5, device=device),
        lambda device: masks.window(3, 5, 1, device=device),
        lambda device: masks.parse_cells("0:1,3-4 1:* *:2", 3, 5, device=device),
        lambda device: masks.lengths(torch.tensor([[2, 0, 1]], device=device), 5)[0],
    ],
)
def test_masks_are_made_on_the_device_that_is_asked_for(make):
    for device in ("meta", "cpu"):
        mask = make(device)
        assert (mask.device.type, mask.dtype, mask.shape) == (device, torch.bool, (3, 5))


@st.composite
def bool_matrices(draw: st.DrawFn) -> Tensor:
    rows, columns = draw(st.integers(1, 7)), draw(st.integers(1, 13))
    row = st.lists(st.booleans(), min_size=columns, max_size=columns)
    return torch.tensor(draw(st.lists(row, min_size=rows, max_size=rows)))


def test_masks_combine_by_hand_and_stay_as_they_were_and_none_combine_to_none():
    some = (masks.causal(3, 5), masks.window(3, 5, 1), masks.lengths(torch.tensor([1]), 5)[0])
    combined = masks.combine(some)
    assert combined.tolist() == drawn("10000", "10000", "00000").tolist()
    assert torch.equal(some[0], masks.causal(3, 5))
    assert masks.combine([]) is None


REFUSED: dict[str, Callable[[], Tensor]] = {
    "radius must be at least 0, got -1": lambda: masks.window(3, 5, -1),
    r"valid_lens must be whole numbers of shape \(batch,\) or \(batch, queries\), "
    r"got torch.float32 of shape \(1,\)": lambda: masks.lengths(torch.tensor([1.0]), 3),
    r"valid_lens must .* of shape \(\)": lambda: masks.lengths(torch.tensor(1), 3),
    r"valid_lens must .* of shape \(2, 3, 5\)": lambda: masks.lengths(
        torch.ones(2, 3, 5, dtype=torch.int64), 3
    ),
    r"got 'oops'$": lambda: masks.parse_cells("0:1 oops 2:1", 3, 5),
    r"got 'x{40}'$": lambda: masks.parse_cells("x" * 7000, 3, 5),
    "goes up, as in 3-5, got '5-3'": lambda: masks.parse_cells("0:5-3", 7, 7),
}


@over("message", REFUSED)
def test_what_is_no_mask_is_refused_in_words(message):
    with pytest.raises(ValueError, match=message):
        REFUSED[message]()


@over(
    "cells",
    [
        *("0", "0:", ":1", "0:a", "a:0", "0:1,", "0:,1", "0:1-", "0:-1", "-1:0", "0:1;1:0"),
        *("0 : 1", "0:1-2-3", "**:1", "0:*,1", "00000:1", "0:12345", "1.0:1", "0:1 nonsense"),
        *(text for text in HOSTILE if text.split()),
    ],
)
def test_cells_written_otherwise_are_refused_with_an_example(cells):
    with pytest.raises(ValueError, match=r'written "query:keys", as in "0:1,3-5 4:\*", got '):
        masks.parse_cells(cells, 3, 5)


@over("cells", ["3:0", "0:5", "9999:9999", "0:5-9999", "3:*", "7:1-3,11"])
def test_cells_outside_the_sentence_are_left_alone(cells):
    assert masks.parse_cells(cells, 3, 5).all()
    reaching = masks.parse_cells(f"1:3-9999 {cells}", 3, 5)
    assert reaching.tolist() == drawn("11111", "11100", "11111").tolist()


@given(text=st.text(alphabet="0123456789:,-* \u0663\u00b2x", max_size=40))
@hypothesis.example("0:1-0")
@settings(deadline=None, max_examples=100)
def test_any_text_gives_a_mask_or_a_value_error_that_says_how_it_is_written(text):
    try:
        mask = masks.parse_cells(text, 3, 5)
    except ValueError as error:
        words = ("hidden cells are written", "a range of hidden cells goes up")
        assert str(error).startswith(words)  # noqa: PT017  # not all text is refused
    else:
        assert mask.shape == (3, 5)


@given(mask=bool_matrices())
@settings(deadline=None, max_examples=100)
def test_hidden_cells_are_read_back_as_the_same_mask(mask):
    assert torch.equal(masks.parse_cells(masks.format_cells(mask), *mask.shape), mask)
