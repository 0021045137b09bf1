"""Matrices of one's own: the published example, and words for whatever does not fit."""

from __future__ import annotations

import pytest
import torch

from attention.core.functional import Trace
from attention.core.settings import settings_of
from attention.figures.matrix import read_matrix
from attention.subjects.play.how import Computation, StepSettings, step
from attention.subjects.play.how.own_matrices import (
    MAX_TOKENS,
    OwnMatrices,
    OwnMatrixSettings,
    attend_over,
    read_own_matrices,
    resized_mask,
)
from tests.hostile import HOSTILE

DECLARED = settings_of(OwnMatrixSettings)
NAMES = tuple(DECLARED)


def made(**texts: str) -> OwnMatrices:
    read = read_own_matrices(OwnMatrixSettings(**texts))
    assert isinstance(read, OwnMatrices)
    return read


def attended(own: OwnMatrices, item: int = 0, scale: float | None = 1.0) -> Trace:
    return attend_over(own, own.x[item], item, scale)


def problems(**texts: str) -> dict[str, str]:
    read = read_own_matrices(OwnMatrixSettings(**texts))
    assert isinstance(read, dict)
    return read


def test_the_example_gives_what_was_published():
    """Karim 2019, “Illustrated: Self-Attention”, steps 3 and 4."""
    trace = attended(made()).head(0)
    assert trace.queries.tolist() == [[1, 0, 2], [2, 2, 2], [2, 1, 3]]
    assert trace.keys.tolist() == [[0, 1, 1], [4, 4, 0], [2, 3, 1]]
    assert trace.values.tolist() == [[1, 2, 3], [2, 8, 0], [2, 6, 3]]
    assert trace.scores.tolist() == [[2, 4, 4], [4, 16, 12], [4, 12, 10]]
    # Its first weights, published rounded: 0.0, 0.5, 0.5; e² / (e² + 2e⁴) = 0.0634.
    weights, output = torch.tensor([0.0634, 0.4683, 0.4683]), torch.tensor([1.9366, 6.6831, 1.5951])
    torch.testing.assert_close(trace.weights[0], weights, atol=6e-5, rtol=0)
    torch.testing.assert_close(trace.output[0], output, atol=6e-5, rtol=0)


def test_rows_are_named_from_0_and_the_scale_is_that_of_the_keys():
    own = made(own_x="1 0 1 0; 0 2 0 2", own_mask="1 0; 1 1")
    assert own.names == ("x0", "x1")
    assert own.mask.tolist() == [[[True, False], [True, True]]]
    trace = attended(own, scale=None)
    assert trace.scale == pytest.approx(3**-0.5)
    assert trace.weights[0, 0].tolist() == [1, 0]
    done = Computation(own.layer, trace, own.names, own.x[0], StepSettings())
    words = step("masked", done).working(0, 1).text
    assert words.startswith("The query “x0” and the key “x1”: hidden, so the softmax gets −∞")


def test_each_matrix_of_a_stack_attends_within_itself_under_a_mask_for_all_or_its_own():
    parts, masks = ("1 0 1 0; 0 2 0 2", "1 1 1 1; 3 0 0 1"), ("1 0; 1 1", "1 1; 0 1")
    for mask in (masks[0], " | ".join(masks)):
        own = made(own_x=" | ".join(parts), own_mask=mask)
        assert own.x.shape == (2, 2, 4)
        for item, part in enumerate(parts):
            alone = made(own_x=part, own_mask=masks[item] if "|" in mask else mask)
            one, other = attended(own, item), attended(alone)
            torch.testing.assert_close(one.output, other.output)
            torch.testing.assert_close(
                one.output, own.layer(own.x, own.mask, scale=1.0).output[item]
            )
            assert one.mask.tolist() == other.mask.tolist()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "there are no numbers yet"),
        *((text, "") for text in HOSTILE),
    ],
)
def test_a_problem_is_told_under_the_name_of_its_matrix(text, problem):
    for names in (*((name,) for name in NAMES), NAMES):
        told = problems(**dict.fromkeys(names, text))
        assert told.keys() == {*names}
        assert not problem or {*told.values()} == {problem}


BITS = "the mask holds 1 where a query may attend and 0 where it may not"


@pytest.mark.parametrize(
    ("texts", "under", "problem"),
    [
        ({"own_W_v": "1;2;3;4;5"}, "v", "X has 4 columns, so this needs 4 rows, got 5"),
        (
            {"own_W_q": "1 2", "own_W_k": "1 2 3"},
            "qk",
            "X has 4 columns, so this needs 4 rows, got 1",
        ),
        ({"own_x": "1 2; 3 4; 5 6"}, "qkv", "X has 2 columns, so this needs 2 rows, got 4"),
        ({"own_W_k": "1;2;3;4"}, "k", "W_q has 3 columns, so W_k must too, got 1"),
        ({"own_W_q": "1;2;3;4"}, "k", "W_q has 1 columns, so W_k must too, got 3"),
        ({"own_mask": "1 1; 1 1"}, "m", "X has 3 rows, so the mask is 3 × 3, got 2 × 2"),
        ({"own_x": "1 0 1 0"}, "m", "X has 1 rows, so the mask is 1 × 1, got 3 × 3"),
        ({"own_mask": "1 1 1; 1 2 1; 1 1 1"}, "m", BITS),
        ({"own_W_q": "1;2;3;4|1;2;3;4"}, "q", "this is one matrix, got 2 of 8"),
        (
            {"own_x": "|".join(["1 0 1 0"] * 11), "own_mask": "1"},
            "x",
            "this is at most 10, of 400 numbers in all, got 11 of 44",
        ),
        (
            {"own_x": "1 0 1 0 | 1 0 1 0; 1 1 1 1"},
            "x",
            "all matrices of a stack must have one shape, got [(1, 4), (2, 4)]",
        ),
        (
            {"own_x": "1 0 1 0 | 0 1 0 1 | 1 1 1 1", "own_mask": "1 | 0"},
            "m",
            "X has 3 matrices, so the mask has 1 or 3, got 2",
        ),
        ({"own_x": "; ".join(["1 0 1 0"] * 21)}, "x", "X may have at most 20 rows, got 21"),
    ],
)
def test_matrices_that_do_not_fit_are_told_under_their_name(texts, under, problem):
    names = dict(zip("xqkvm", NAMES, strict=True))
    assert problems(**texts) == {names[letter]: problem for letter in under}


@pytest.mark.parametrize(
    ("mask", "x", "expected"),
    [
        ("1 0; 1 1", "1 2; 3 4", "1 0; 1 1"),
        ("1 0; 1 1", "1; 2; 3", "1 0 1; 1 1 1; 1 1 1"),
        ("1 0 1; 1 1 0; 0 0 0", "1; 2", "1 0; 1 1"),
        ("0", "5 7", "0"),
        ("1 0 1", "1; 2", "1 0; 1 1"),
        ("1 _; 1 1", "1; 2; 3", "1 _; 1 1"),
        ("1 0; 1 1", "1; cat", "1 0; 1 1"),
        ("", "", ""),
        ("1 0; 1 1", "1; 2 | 3; 4", "1 0; 1 1"),
        ("1 0; 1 1 | 1 1; 1 0", "1 | 2 | 3", "1 | 1 | 1"),
        ("1 0; 1 1 | 1 1; 1 0", "1; 2", "1 0; 1 1"),
    ],
)
def test_the_mask_takes_the_size_of_x_and_keeps_its_cells(mask, x, expected):
    assert resized_mask(mask, x) == expected


def test_the_mask_does_not_grow_beyond_what_can_be_edited():
    mask = resized_mask("0", "; ".join(["1"] * MAX_TOKENS))
    assert read_matrix(mask).shape == (20, 20)
    assert resized_mask(mask, "; ".join(["1"] * (MAX_TOKENS + 1))) == mask
    assert resized_mask(mask, "1; 2") == "0 1; 1 1"
