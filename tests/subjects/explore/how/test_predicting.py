"""Predict, then reveal: which question suits a step, and what is said to an answer."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from attention.subjects.explore.how import Computation, Step, predicting, step
from attention.subjects.explore.how.predicting import Answer
from tests.subjects.explore.how.test_steps import Matrix, done, shown

GUESSED = [[1.0, 5.0], [5.0, -2.0], [0.0, 3.0]]
ALLOWED = torch.tensor([[True, False], [False, True], [True, True]])
KEYS = ("the", "cat", "the")
ROWS = [[2.0, 1.0, 2.0], [0.0, 4.0, 1.0], [7.0, -1.0, 3.0]]
MAY = torch.tensor([[True, True, True], [False, False, False], [False, True, True]])
STEPS = {
    "plain": shown(GUESSED),
    "empty": shown(GUESSED, allowed=ALLOWED & ~ALLOWED),
    "hiding": shown(GUESSED, allowed=ALLOWED, column_names=("red", "blue")),
    "near": shown([[1 / 3, 1 / 3 + 1e-7]]),
    **{
        name: Step(
            "Rows", "", "", [Matrix("S", torch.tensor(ROWS), KEYS, KEYS, allowed=may)], shown
        )
        for name, may in (("rows", None), ("hidden rows", MAY))
    },
}
HIDDEN: set[Any] = {(1, 0), (1, 1), (1, 2), (2, 0)}
MARKED = HIDDEN - {(2, 0), (1, 2)} | {(0, 1)}
SAID: list[tuple[str, str, Any, str]] = [
    # wherever the greatest number that is shown stands
    ("plain", "greatest", (0, 1), "Right: “ant” and dimension 1 is the greatest, 5."),
    ("plain", "greatest", (1, 0), "Right: “bee” and dimension 0 is the greatest, 5."),
    ("plain", "greatest", (1, 1), "Not …, it holds −2; “ant” and dimension 1 holds 5."),
    ("near", "greatest", (0, 0), "Right: “ant” and dimension 0 is the greatest, 0.3333."),
    ("hiding", "greatest", (2, 1), "Right: “cow” and “blue” is the greatest, 3."),
    ("hiding", "greatest", (0, 1), "Not …, it is hidden; “cow” and “blue” holds 3."),
    ("empty", "greatest", (0, 1), "Every cell is hidden: there is no greatest one."),
    # in its row alone
    ("rows", "row", (1, 1), "Right: in the row of “cat” “cat” gets most, 4."),
    ("rows", "row", (0, 2), "Right: … “the (2)” gets most, 2; “the (0)” as much."),
    ("rows", "row", (0, 1), "Not “cat”, it holds 1; … “the (0)” and “the (2)” get most, 2."),
    ("rows", "row", (2, 1), "Not “cat”, it holds −1; in the row of “the (2)” “the (0)” gets most"),
    ("hidden rows", "row", (2, 0), "Not “the (0)”, it is hidden; … “the (2)” gets most, 3."),
    ("hidden rows", "row", (1, 1), "“cat” may look at nothing: every key of its row is hidden."),
    # within five per cent or a hundredth
    ("rows", "number", (1, 1, 4.2), "Right: … holds 4, and 4.2000 is within ±0.2000."),
    ("rows", "number", (1, 1, 4.21), "Not 4.2100: … holds 4, ±0.2000 would have counted."),
    ("rows", "number", (1, 0, 0.01), "Right: … holds 0, and 0.0100 is within ±0.0100."),
    ("rows", "number", (2, 1, 1.0), "Not 1.0000: … holds −1, ±0.0500 would have counted."),
    # against the mask
    ("hidden rows", "mask", HIDDEN, "Right: 4 cells are hidden."),
    ("rows", "mask", set(), "Right: no cells are hidden."),
    ("hidden rows", "mask", HIDDEN - {(2, 0)}, "1 cell is hidden too, as “the (2)” and “the (0)”."),
    (
        "hidden rows",
        "mask",
        MARKED,
        "2 cells are hidden too, as “cat” and “the (2)” and 1 cell is …",
    ),
    ("rows", "mask", {(0, 0), (0, 1)}, "2 cells are not hidden, as “the (0)” and “the (0)”."),
]


@pytest.mark.parametrize(("name", "asked", "answer", "words"), SAID)
def test_an_answer_is_held_against_what_is_shown(name, asked, answer, words):
    if asked == "mask":
        given = Answer(0, asked, marked=frozenset(answer))
    else:
        given = Answer(0, asked, answer[:2], *answer[2:])
    verdict = predicting.verdict(STEPS[name], given)
    assert all(part.strip() in verdict for part in words.split("…"))  # … stands for names of cells


# Which question


def asked(run: Computation, wanted: str = "suited") -> dict[str, str]:
    return {name: predicting.question(step(name, run), wanted, (0, 0)) for name in run.steps[1:]}


def test_each_step_is_asked_what_suits_it():
    assert asked(done("talking", "masked and dropped")) == {
        # 12 terms are no short sum, 6 or 7 are one
        **dict.fromkeys(("queries", "keys", "values", "joined"), "terms"),
        **dict.fromkeys(("mixed scores", "mixed weights"), "terms"),  # of heads that are not shown
        **dict.fromkeys(("scores", "weights"), "row"),
        **dict.fromkeys(("scaled", "dropout", "output"), "number"),
        "masked": "mask",
    }
    # which cannot be worked out from what is shown
    for variant in ("dot", "additive", "bilinear", "cosine"):
        assert asked(done(variant))["scores"] == "terms"
    assert asked(done("qkv"))["scores"] == "row"


def test_another_question_is_asked_where_it_has_an_answer():
    run = done("dot", "masked and dropped")
    others = {
        wanted: {name for name, question in asked(run, wanted).items() if question != wanted}
        for wanted in ("row", "number", "mask", "greatest")
    }
    assert others.pop("mask") == {*run.steps[1:]} - {"masked"}
    assert others == {"row": {"queries", "output"}, "number": {"masked"}, "greatest": set()}


def test_the_terms_of_a_cell_are_counted():
    made = step("queries", done("qkv"))
    told = f"12 terms are added up to one cell of {made.result.name}."
    assert predicting.verdict(made, Answer(0, "terms", number=12)) == f"Right: {told}"
    assert predicting.verdict(made, Answer(0, "terms", number=3)) == f"Not 3: {told}"


def test_what_dropout_leaves_can_be_worked_out_from_what_was_drawn():
    run = done("dot", "masked and dropped")
    weights, drawn, after = (
        part for part in step("dropout", run).parts if isinstance(part, Matrix)
    )
    growth = 1 / (1 - run.dropout)
    torch.testing.assert_close(weights.numbers * drawn.numbers * growth, after.numbers)
    assert torch.equal(drawn.allowed, weights.numbers != 0)


@pytest.mark.parametrize(
    ("typed", "said"),
    [("0.5", 0.5), (" −1,25 ", -1.25), ("-3e-2", -0.03), ("", None), ("nan", None), ("<b>", None)],
)
def test_a_number_may_be_typed_with_a_comma_and_any_minus_sign(typed, said):
    assert predicting.read_number(typed) == said
