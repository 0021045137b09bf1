"""Attention by hand: the published example, and a word for whatever does not fit."""

from __future__ import annotations

import re
from dataclasses import fields, replace

import pytest
import torch

from attention.core.functional import dot_scores, masked_softmax
from attention.core.settings import settings_of
from attention.display.matrix import MAX_CELLS, read_matrix
from attention.lessons.own_matrices import (
    MAX_TEXT,
    MAX_TOKENS,
    Hand,
    OwnMatrixSettings,
    read_own_matrices,
    resized_mask,
)
from tests.hostile import HOSTILE
from tests.properties import given, settings
from tests.properties import strategies as st

NAMES = tuple(field.name for field in fields(OwnMatrixSettings))


def made(**texts: str) -> Hand:
    read = read_own_matrices(OwnMatrixSettings(**texts))
    assert isinstance(read, Hand)
    return read


def words(**texts: str) -> dict[str, str]:
    read = read_own_matrices(OwnMatrixSettings(**texts))
    assert isinstance(read, dict)
    return read


# The example


@torch.no_grad()
def test_the_example_gives_what_was_published() -> None:
    """Karim 2019, “Illustrated: Self-Attention”, steps 3 and 4."""
    hand = made()
    trace = hand.variant(hand.x, hand.mask, scale=1.0)
    assert trace.queries.tolist() == [[1, 0, 2], [2, 2, 2], [2, 1, 3]]
    assert trace.keys.tolist() == [[0, 1, 1], [4, 4, 0], [2, 3, 1]]
    assert trace.values.tolist() == [[1, 2, 3], [2, 8, 0], [2, 6, 3]]
    assert trace.scores.tolist() == [[2, 4, 4], [4, 16, 12], [4, 12, 10]]
    assert torch.equal(trace.weights, masked_softmax(trace.scores))
    # Its first weights, published rounded: 0.0, 0.5, 0.5; e² / (e² + 2e⁴) = 0.0634.
    torch.testing.assert_close(
        trace.weights[0], torch.tensor([0.0634, 0.4683, 0.4683]), atol=5e-5, rtol=0
    )
    assert torch.allclose(trace.output[0], torch.tensor([1.9366, 6.6831, 1.5951]), atol=5e-5)


def test_rows_are_named_from_one_and_the_scale_is_that_of_the_keys() -> None:
    hand = made(hand_x="1 0 1 0; 0 2 0 2", hand_mask="1 0; 1 1")
    assert hand.names == ("x1", "x2")
    assert hand.mask.tolist() == [[True, False], [True, True]]
    with torch.no_grad():
        trace = hand.variant(hand.x, hand.mask)
    assert trace.scale == pytest.approx(3**-0.5)
    assert trace.weights[0].tolist() == [1, 0]


@torch.no_grad()
def test_one_number_attends_to_itself() -> None:
    hand = made(hand_x="2", hand_q="3", hand_k="7", hand_v="5", hand_mask="1")
    trace = hand.variant(hand.x, hand.mask)
    assert (trace.queries.item(), trace.keys.item(), trace.values.item()) == (6, 14, 10)
    assert (trace.scores.item(), trace.weights.item(), trace.output.item()) == (84, 1, 10)


@torch.no_grad()
def test_widths_may_all_differ() -> None:
    hand = made(
        hand_x="1 2",
        hand_q="1 0 0 1 1; 1 1 0 0 1",
        hand_k="1 1 1 1 1; 0 0 0 0 1",
        hand_v="1 2 3; 4 5 6",
        hand_mask="1",
    )
    trace = hand.variant(hand.x, hand.mask)
    assert trace.queries.shape == trace.keys.shape == (1, 5)
    assert trace.output.tolist() == [[9, 12, 15]]
    assert torch.equal(trace.scores, dot_scores(trace.queries, trace.keys))


# What does not fit


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "there are no numbers yet"),
        ("1 2; 3", "row 1 has 1 numbers, the rows above have 2"),
        ("1 _", "row 0, column 1 is empty: a number is needed"),
        ("<script>", "row 0, column 0 holds '<script>', which is no number"),
        ("1e7", "row 0, column 0 must lie within ±1e+06, got 1e7"),
    ],
)
def test_a_misprint_is_named_where_it_stands(name: str, text: str, word: str) -> None:
    assert words(**{name: text}) == {name: word}


def test_every_misprint_is_named() -> None:
    assert words(**dict.fromkeys(NAMES, "x")).keys() == set(NAMES)


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ({"hand_q": "1 0 1"}, {"hand_q": "X has 4 columns, so this needs 4 rows, got 1"}),
        ({"hand_k": "1 0 1"}, {"hand_k": "X has 4 columns, so this needs 4 rows, got 1"}),
        ({"hand_v": "1; 2; 3; 4; 5"}, {"hand_v": "X has 4 columns, so this needs 4 rows, got 5"}),
        ({"hand_k": "1;2;3;4"}, {"hand_k": "W_q has 3 columns, so W_k must too, got 1"}),
        ({"hand_q": "1;2;3;4"}, {"hand_k": "W_q has 1 columns, so W_k must too, got 3"}),
        (
            {"hand_q": "1 2", "hand_k": "1 2 3"},
            {
                "hand_q": "X has 4 columns, so this needs 4 rows, got 1",
                "hand_k": "X has 4 columns, so this needs 4 rows, got 1",
            },
        ),
        (
            {"hand_x": "1 2; 3 4; 5 6"},
            dict.fromkeys(NAMES[1:4], "X has 2 columns, so this needs 2 rows, got 4"),
        ),
        (
            {"hand_mask": "1 1; 1 1"},
            {"hand_mask": "X has 3 rows, so the mask is 3 × 3, got 2 × 2"},
        ),
        (
            {"hand_x": "1 0 1 0"},
            {"hand_mask": "X has 1 rows, so the mask is 1 × 1, got 3 × 3"},
        ),
        (
            {"hand_mask": "1 1 1; 1 2 1; 1 1 1"},
            {"hand_mask": "the mask holds 1 where a query may attend and 0 where it may not"},
        ),
        (
            {"hand_x": "; ".join(["1 0 1 0"] * 21)},
            {"hand_x": "X may have at most 20 rows, got 21"},
        ),
    ],
)
def test_matrices_that_do_not_fit_get_a_word_under_their_name(
    texts: dict[str, str], expected: dict[str, str]
) -> None:
    assert words(**texts) == expected


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_a_word_under_its_name(name: str, text: str) -> None:
    assert words(**{name: text}).keys() == {name}


# The mask follows X


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
    ],
)
def test_the_mask_takes_the_size_of_x_and_keeps_its_cells(mask: str, x: str, expected: str) -> None:
    assert resized_mask(mask, x) == expected


def test_the_mask_does_not_grow_beyond_what_can_be_edited() -> None:
    mask = resized_mask("0", "; ".join(["1"] * MAX_TOKENS))
    assert read_matrix(mask).shape == (20, 20)
    assert resized_mask(mask, "; ".join(["1"] * (MAX_TOKENS + 1))) == mask
    assert resized_mask(mask, "1; 2") == "0 1; 1 1"


@given(tokens=st.integers(1, MAX_TOKENS), before=st.integers(1, MAX_TOKENS))
@settings(deadline=None, max_examples=25)
def test_a_resized_mask_always_fits(tokens: int, before: int) -> None:
    x = "; ".join(["1 2 3"] * tokens)
    mask = resized_mask("; ".join(["0 " * before] * before), x)
    three = "1 2; 3 4; 5 6"
    hand = made(hand_x=x, hand_q=three, hand_k=three, hand_v=three, hand_mask=mask)
    kept = min(tokens, before)
    assert not hand.mask[:kept, :kept].any()
    assert int((~hand.mask).sum()) == kept**2


# Any text


shapes = st.tuples(st.integers(1, 5), st.integers(1, 5))
grids = shapes.flatmap(
    lambda shape: st.lists(
        st.lists(
            st.sampled_from(("0", "1", "-2", ".5", "1e6")), min_size=shape[1], max_size=shape[1]
        ),
        min_size=shape[0],
        max_size=shape[0],
    ).map(lambda rows: "; ".join(map(" ".join, rows)))
)


@given(texts=st.fixed_dictionaries(dict.fromkeys(NAMES, grids | st.text(max_size=20))))
@settings(deadline=None, max_examples=200)
def test_any_texts_are_matrices_or_words(texts: dict[str, str]) -> None:
    check(OwnMatrixSettings(**texts))


@given(data=st.data())
@settings(deadline=None, max_examples=100)
def test_changing_one_text_of_the_example_gives_matrices_or_words(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(NAMES))
    check(replace(OwnMatrixSettings(), **{name: data.draw(grids)}))


def check(texts: OwnMatrixSettings) -> None:
    read = read_own_matrices(texts)
    if isinstance(read, dict):
        assert read
        assert read.keys() <= set(NAMES)
        assert all(read.values())
        return
    with torch.no_grad():
        trace = read.variant(read.x, read.mask)
    tokens = len(read.names)
    assert trace.weights.shape == (tokens, tokens)
    assert trace.output.isfinite().all()
    assert (trace.weights[~read.mask] == 0).all()


# What the link may hold


def test_the_longest_cells_a_grid_sends_fit_into_the_setting() -> None:
    cell = "-0.12345678901234567"
    assert len(cell) == 20
    for rows, columns in ((20, 20), (400, 1), (1, 400)):
        text = "; ".join([" ".join([cell] * columns)] * rows)
        assert rows * columns == MAX_CELLS
        assert len(text) <= MAX_TEXT
    assert {about.maximum for _, about in settings_of(OwnMatrixSettings).values()} == {MAX_TEXT}


def test_the_help_shows_how_a_matrix_is_written() -> None:
    helps = [about.help for _, about in settings_of(OwnMatrixSettings).values()]
    written = [found[1] for help in helps if (found := re.search(r": ([\d ;]+)\.$", help))]
    assert len(written) == 4
    assert {read_matrix(text).shape for text in written} == {(2, 3)}
