"""Predict, then reveal: which question suits a step, and what is said to an answer."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from attention.lessons.steps import Computation, Step, predicting, step
from attention.lessons.steps.predicting import Answer
from tests.lessons.test_steps import Matrix, done, shown

GUESSED = [[1.0, 5.0], [5.0, -2.0], [0.0, 3.0]]
ALLOWED = torch.tensor([[True, False], [False, True], [True, True]])
PLAIN, EMPTY = shown(GUESSED), shown(GUESSED, allowed=ALLOWED & ~ALLOWED)
HIDING = shown(GUESSED, allowed=ALLOWED, column_names=("red", "blue"))
NEAR = shown([[1 / 3, 1 / 3 + 1e-7]])


@pytest.mark.parametrize(
    ("made", "guess", "words"),
    [
        (PLAIN, (0, 1), "Right: “ant” and dimension 1 is the greatest, 5."),
        (PLAIN, (1, 0), "Right: “bee” and dimension 0 is the greatest, 5."),
        (
            PLAIN,
            (1, 1),
            "Not “bee” and dimension 1, it holds −2; “ant” and dimension 1 holds 5.",
        ),
        (NEAR, (0, 0), "Right: “ant” and dimension 0 is the greatest, 0.3333."),
        (HIDING, (2, 1), "Right: “cow” and “blue” is the greatest, 3."),
        (HIDING, (0, 1), "Not “ant” and “blue”, it is hidden; “cow” and “blue” holds 3."),
        (EMPTY, (0, 1), "Every cell is hidden: there is no greatest one."),
    ],
)
def test_a_guess_is_right_wherever_the_greatest_number_shown_stands(
    made: Step, guess: tuple[int, int], words: str
) -> None:
    assert predicting.verdict(made, Answer(0, "greatest", guess)) == words


# Which question


def asked(run: Computation, wanted: str = "suited") -> dict[str, str]:
    return {name: predicting.question(step(name, run), wanted, (0, 0)) for name in run.steps[1:]}


def test_each_step_is_asked_what_suits_it() -> None:
    assert asked(done("talking", "masked and dropped")) == {
        # 12 terms are no short sum, 6 or 7 are one
        **dict.fromkeys(("queries", "keys", "values", "joined"), "terms"),
        **dict.fromkeys(("mixed scores", "mixed weights"), "terms"),  # of heads that are not shown
        **dict.fromkeys(("scores", "weights"), "row"),
        **dict.fromkeys(("scaled", "dropout", "output"), "number"),
        "masked": "mask",
    }


@pytest.mark.parametrize("variant", ["dot", "additive", "bilinear", "cosine"])
def test_scores_are_not_asked_for_that_cannot_be_worked_out_from_what_is_shown(
    variant: str,
) -> None:
    assert asked(done(variant))["scores"] == "terms"
    assert asked(done("qkv"))["scores"] == "row"


def test_the_terms_of_a_cell_are_counted() -> None:
    made = step("queries", done("qkv"))
    assert predicting.words(made, "terms", (0, 0)) == (
        f"How many terms are added up to one cell of {made.result.name}?"
    )
    told = f"12 terms are added up to one cell of {made.result.name}."
    assert predicting.verdict(made, Answer(0, "terms", number=12)) == f"Right: {told}"
    assert predicting.verdict(made, Answer(0, "terms", number=3)) == f"Not 3: {told}"


def test_what_dropout_leaves_can_be_worked_out_from_what_was_drawn() -> None:
    run = done("dot", "masked and dropped")
    made = step("dropout", run)
    weights, drawn, after = (part for part in made.parts if not isinstance(part, str))
    growth = 1 / (1 - run.dropout)
    assert torch.allclose(weights.numbers * drawn.numbers * growth, after.numbers)
    assert drawn.allowed is not None
    assert torch.equal(drawn.allowed, weights.numbers != 0)


def test_another_question_is_asked_where_it_has_an_answer() -> None:
    run = done("dot", "masked and dropped")
    rows = asked(run, "row")
    assert [name for name, question in rows.items() if question != "row"] == ["queries", "output"]
    numbers = asked(run, "number")
    assert [name for name, question in numbers.items() if question != "number"] == ["masked"]
    assert [*asked(run, "mask").values()].count("mask") == 1
    assert {*asked(run, "greatest").values()} == {"greatest"}


# A key of a row

KEYS = ("the", "cat", "the")
ROWS = [[2.0, 1.0, 2.0], [0.0, 4.0, 1.0], [7.0, -1.0, 3.0]]
MAY = torch.tensor([[True, True, True], [False, False, False], [False, True, True]])
PLAIN_ROWS, HIDDEN_ROWS = (
    Step("Rows", "", "", [Matrix("S", torch.tensor(ROWS), KEYS, KEYS, allowed=allowed)], shown)
    for allowed in (None, MAY)
)


@pytest.mark.parametrize(
    ("made", "cell", "words"),
    [
        (PLAIN_ROWS, (1, 1), "Right: in the row of “cat” “cat” gets most, 4."),
        (
            PLAIN_ROWS,
            (0, 2),
            "Right: in the row of “the (0)” “the (2)” gets most, 2; “the (0)” as much.",
        ),
        (
            PLAIN_ROWS,
            (0, 1),
            "Not “cat”, it holds 1; in the row of “the (0)” “the (0)” and “the (2)” get most, 2.",
        ),
        (
            PLAIN_ROWS,
            (2, 1),
            "Not “cat”, it holds −1; in the row of “the (2)” “the (0)” gets most, 7.",
        ),
        (
            HIDDEN_ROWS,
            (2, 0),
            "Not “the (0)”, it is hidden; in the row of “the (2)” “the (2)” gets most, 3.",
        ),
        (HIDDEN_ROWS, (1, 1), "“cat” may look at nothing: every key of its row is hidden."),
    ],
)
def test_the_key_that_gets_most_is_looked_for_in_its_row_alone(
    made: Step, cell: tuple[int, int], words: str
) -> None:
    assert predicting.verdict(made, Answer(0, "row", cell)) == words


# A number


@pytest.mark.parametrize(
    ("cell", "said", "words"),
    [
        ((1, 1), 4.2, "Right: “cat” and “cat” holds 4, and 4.2000 is within ±0.2000."),
        ((1, 1), 4.21, "Not 4.2100: “cat” and “cat” holds 4, ±0.2000 would have counted."),
        (
            (1, 0),
            0.01,
            "Right: “cat” and “the (0)” holds 0, and 0.0100 is within ±0.0100.",
        ),
        (
            (2, 1),
            1.0,
            "Not 1.0000: “the (2)” and “cat” holds −1, ±0.0500 would have counted.",
        ),
    ],
)
def test_a_number_is_right_within_five_percent_or_a_hundredth(
    cell: tuple[int, int], said: float, words: str
) -> None:
    assert predicting.verdict(PLAIN_ROWS, Answer(0, "number", cell, said)) == words


@pytest.mark.parametrize(
    ("typed", "said"),
    [("0.5", 0.5), (" −1,25 ", -1.25), ("-3e-2", -0.03), ("", None), ("nan", None), ("<b>", None)],
)
def test_a_number_may_be_typed_with_a_comma_and_any_minus_sign(
    typed: str, said: float | None
) -> None:
    assert predicting.read_number(typed) == said


# A mask

HIDDEN: set[Any] = {(1, 0), (1, 1), (1, 2), (2, 0)}


@pytest.mark.parametrize(
    ("made", "marked", "words"),
    [
        (HIDDEN_ROWS, HIDDEN, "Right: 4 cells are hidden."),
        (PLAIN_ROWS, set(), "Right: no cells are hidden."),
        (
            HIDDEN_ROWS,
            HIDDEN - {(2, 0)},
            "Not quite: 1 cell is hidden too, as “the (2)” and “the (0)”.",
        ),
        (
            HIDDEN_ROWS,
            HIDDEN - {(2, 0), (1, 2)} | {(0, 1)},
            "Not quite: 2 cells are hidden too, as “cat” and “the (2)” and "
            "1 cell is not hidden, as “the (0)” and “cat”.",
        ),
        (
            PLAIN_ROWS,
            {(0, 0), (0, 1)},
            "Not quite: 2 cells are not hidden, as “the (0)” and “the (0)”.",
        ),
    ],
)
def test_marked_cells_are_held_against_the_mask(made: Step, marked: Any, words: str) -> None:
    assert predicting.verdict(made, Answer(0, "mask", marked=frozenset(marked))) == words
