"""The page "Step by step": every step there is, guesses, and matrices of one's own."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.testing import assert_close

from attention.app.state.links import every_setting
from attention.core.settings import settings_of
from attention.lessons import steps
from attention.lessons.steps import Computation, StepSettings
from attention.lessons.steps.own_matrices import OwnMatrixSettings
from tests.lessons.making import result_of
from tests.running import App, Sent, numbers_of, opened

SMALL: dict[str, Any] = {"vectors": "random", "d_model": 25, "mask": ("causal", "length")}
OWN = {"input": "matrices", "scale": "none"}
ONE = {"own_x": 2, "own_W_q": 3, "own_W_k": 1, "own_W_v": 5, "own_mask": 1}


def shown(app: App) -> Sent:
    """Message that the matrices of the step receive."""
    return app.sent["matrices"]


def title(app: App) -> str:
    return str(app.subheader[0].value)


def grids(app: App) -> dict[str, dict[str, Any]]:
    """Headers of the matrices to edit, by the name of their setting."""
    return {name: app.sent[f"grid_{name}"].header for name in settings_of(OwnMatrixSettings)}


def computation(s: str, own: StepSettings | None = None, /, **settings: Any) -> Computation:
    """The steps of the sentence by the library itself."""
    result = result_of(s, **settings)
    return steps.Computation(
        result.layer,
        result.layer_trace,
        result.tokens,
        result.vectors,
        own or StepSettings(),
        head=result.head,
        positions=result.encoding,
        masks=result.masks,
    )


@pytest.mark.parametrize("variant", ["dot", "talking"])
def test_one_goes_through_all_steps_of_a_computation_with_its_numbers_and_back(
    variant: str,
) -> None:
    settings = SMALL | {"variant": variant, "head": 3, "positions": "sinusoidal", "seed": 4}
    own = StepSettings(dropout=0.5, dropout_seed=2)
    app = opened("steps", s="a b c d", dropout=0.5, dropout_seed=2, row=2, column=3, **settings)
    done = computation("a b c d", own, **settings)
    for number, name in enumerate(done.steps, 1):
        step = steps.step(name, done)
        assert title(app) == f"{number}. {step.title}"
        assert app.values["step"] == name
        graph = app.sent["step_graph"].header
        assert [box["step"] for box in graph["boxes"]] == [*done.steps, ""]
        assert graph["boxes"][graph["chosen"]]["step"] == name
        assert_close(shown(app).matrices, numbers_of(step.parts), equal_nan=True)
        assert shown(app).header["chosen"] == [2, 3]
        assert "class='working'><p>" in app.said
        drawn = app.controls.keys() & {"row", "column", "predict", "dropout", "dropout_seed"}
        assert "question" not in app.controls
        assert len(drawn) == (5 if name in ("dropout", "output", "joined") else 3)
        disabled = {button.label: button.disabled for button in app.button}
        assert (disabled["Back"], disabled["Next"]) == (number == 1, number == len(done.steps))
        assert len(disabled) == (3 if done.alike and number < 3 else 2)
        if number < len(done.steps):
            app.press("Next")
    assert app.press("Back").values["step"] == done.steps[-2]


def test_what_is_not_here_is_answered_with_a_word_and_the_nearest_shown() -> None:
    app = opened("steps", step="joined")
    assert title(app) == "1. The vectors"
    assert app.notes == ["This computation has no step joined; showing the first."]
    app = opened("steps", step="weights", row=511, column=6)
    assert app.notes == ["There are 6 rows and 6 columns here; showing the nearest cell."]
    assert shown(app).header["chosen"] == [5, 5]


def test_a_link_to_queries_keys_or_values_shows_all_three_where_they_are_the_same() -> None:
    for name in ("queries", "keys", "values"):
        app = opened("steps", step=name)
        assert title(app) == "2. Queries, keys and values"
        assert not app.notes
    assert title(app.press("Next")) == "3. Scores"
    assert title(opened("steps", step="keys", variant="qkv")) == "3. Keys"


def test_a_click_chooses_a_cell() -> None:
    app = opened("steps").tell("step_graph", "step", "masked")
    assert app.query_params == {"step": "masked"}
    app = opened("steps").tell("matrices", "cell", [3, 20])
    assert app.query_params == {"row": "3", "column": "20"}
    assert shown(app).header["chosen"] == [3, 20]


# Guessing


def test_while_one_guesses_the_result_stays_on_the_server() -> None:
    link = SMALL | {"variant": "talking", "d_model": 5}
    for name in computation("cat dog", **link).steps[1::3]:
        known = shown(opened("steps", **link, step=name))
        app = opened("steps", **link, step=name, predict="on")
        hidden = shown(app)
        assert known.result.nan_to_num().any()
        assert not hidden.result.any()
        assert hidden.header["hidden"]
        asked = hidden.header["asked"]
        assert hidden.header["chosen"] == (asked if asked == [0, 0] else None)
        *before, last = hidden.header["parts"]
        assert (last["hidden"], last["most"]) == (True, 1)
        assert not any(part["hidden"] for part in before)
        assert "working" not in app.said
        assert any("The result is hidden until you answer." in note for note in app.notes)
        assert_close(hidden.matrices[:-1], known.matrices[:-1], equal_nan=True)


def guessed(s: str = "cat dog", row: int = 0, column: int = 1) -> App:
    """The page after a guess at the greatest weight."""
    link = {"s": s, "vectors": "random", "d_model": 3, "step": "weights", "predict": "on"}
    app = opened("steps", **link, question="greatest")
    return app.tell("matrices", "cell", [row, column])


def test_a_guess_reveals_the_numbers_and_gets_a_word() -> None:
    weights = result_of("cat dog", d_model=3).trace.weights
    best = divmod(int(weights.argmax()), 2)
    right, wrong = guessed("cat dog", *best), guessed("cat dog", 1 - best[0], best[1])
    assert_close(shown(right).result, weights)
    assert shown(right).header["chosen"] == [*best]
    assert "class='working'" in right.said
    assert right.notes[0].startswith("Right: ")
    assert wrong.notes[0].startswith("Not “")


@pytest.mark.parametrize(
    ("name", "value"), [("step", "output"), ("mask", ["causal"]), ("scale", "none")]
)
def test_a_guess_holds_for_its_own_numbers_only(name: str, value: Any) -> None:
    before = guessed()
    assert not shown(before).header["hidden"]
    assert shown(before.choose(name, value)).header["hidden"]


TASK: dict[str, Any] = {"vectors": "random", "d_model": 3, "predict": "on", "s": "cat dog cow"}


def test_a_link_asks_for_the_key_that_gets_most_in_its_row() -> None:
    app = opened("steps", **TASK, step="weights", question="row", row=2)
    asks = "Which key gets the most in the row of “cow”? Click it in that row."
    assert app.notes == [f"{asks} The result is hidden until you answer."]
    assert shown(app).header["asked"] == [2, None]
    app.tell("matrices", "cell", [0, 1])
    assert shown(app).header["hidden"]
    assert app.values["row"] == 2
    weights = result_of("cat dog cow", d_model=3).trace.weights
    app.tell("matrices", "cell", [2, int(weights[2].argmax())])
    assert app.notes[0].startswith("Right: in the row of “cow” “")
    assert_close(shown(app).result, weights)
    assert shown(app).header["asked"] is None
    app.tell("matrices", "cell", [0, 1])
    assert app.notes[0].startswith("Right: in the row of “cow” “")
    assert shown(app).header["chosen"] == [0, 1]
    assert shown(app.press("Hide and guess again")).header["hidden"]


@pytest.mark.parametrize(("question", "click"), [("row", [2, 0]), ("number", [0, 0])])
def test_a_link_to_a_task_leads_to_no_other_task(question: str, click: list[int]) -> None:
    link = TASK | {"step": "weights", "question": question, "row": 2, "variant": "qkv"}
    free = opened("steps", **link)
    names = free.sent["copy_link"].header["task"]
    assert (
        {"s", "variant", "d_k", "scale", "step", "row", "question"}
        <= {*names}
        <= {*every_setting()}
    )
    app = opened("steps", **link, hide=",".join(names))
    assert not app.notes[1:]
    assert not app.controls.keys() & every_setting().keys()
    assert "step_graph" not in app.sent
    assert not [button for button in app.button if button.label in ("Back", "Next")]
    asked = app.notes
    assert asked == free.notes
    assert shown(app).header["pickable"] == (question == "row")
    if question == "row":
        app.tell("matrices", "cell", click)
    else:
        app.controls["typed"].set_value("0.5")
        app.press("Check")
    assert not shown(app).header["hidden"]
    assert shown(app).header["chosen"] == [2, 0]
    assert not shown(app).header["pickable"]
    assert app.press("Hide and guess again").notes == asked


def test_where_too_many_numbers_meet_the_count_of_the_terms_is_asked() -> None:
    app = opened("steps", variant="qkv", step="queries", predict="on")
    assert app.notes[0].startswith("How many terms are added up to one cell of Q?")
    assert shown(app).header["hidden"]
    app.controls["typed"].set_value("50")
    app.press("Check")
    assert app.notes == ["Right: 50 terms are added up to one cell of Q."]
    assert not shown(app).header["hidden"]


def test_a_link_asks_for_the_number_in_its_cell() -> None:
    app = opened("steps", **TASK, step="scaled", question="number", row=1, column=2)
    assert "What number is in the cell of “dog” and “cow”? Within ±5 % or ±0.01" in app.notes[0]
    assert shown(app).header["asked"] == [1, 2]
    app.controls["typed"].set_value("<b>x")
    app.press("Check")
    assert app.notes[1] == "“<b>x” is no number; one is written as in −0.25."
    assert shown(app).header["hidden"]
    exact = float(result_of("cat dog cow", d_model=3).trace.scaled[1, 2])
    app.controls["typed"].set_value(f"{exact:.5f}".replace(".", ","))
    app.press("Check")
    assert app.notes[0].startswith("Right: “dog” and “cow” holds ")
    assert not shown(app).header["hidden"]
    app.press("Hide and guess again").controls["typed"].set_value(str(exact + 5))
    assert app.press("Check").notes[0].startswith("Not ")


def test_the_hidden_cells_are_marked_and_held_against_the_mask() -> None:
    app = opened("steps", **TASK, step="masked", mask="causal")
    assert "Which cells become hidden?" in app.notes[0]
    app.tell("marked_cells", "paint", {"cells": [[0, 1], [0, 2], [1, 0]], "allowed": False})
    app.tell("marked_cells", "paint", {"cells": [[1, 0]], "allowed": True})
    assert app.sent["marked_cells"].header["mask"] == [[1, 0, 0], [1, 1, 1], [1, 1, 1]]
    assert shown(app.tell("matrices", "cell", [0, 0])).header["hidden"]
    app.press("Check")
    assert app.notes[0] == "Not quite: 1 cell is hidden too, as “dog” and “cow”."
    assert not shown(app).header["hidden"]
    app.press("Hide and guess again")
    assert app.sent["marked_cells"].header["mask"] == [[1, 1, 1]] * 3


def test_where_q_k_and_v_are_the_same_one_is_led_to_where_they_differ() -> None:
    app = opened("steps", step="queries", row=1)
    label = "Here q = k = v = x. See them differ: Query, key and value"
    assert label in [button.label for button in app.button]
    app.press(label)
    assert (title(app), app.values["variant"]) == ("2. Queries", "qkv")
    assert label not in [button.label for button in app.button]


# Matrices of one's own


def test_the_example_stands_ready_without_sentence_and_variant() -> None:
    app = opened("steps", **OWN, step="scores")
    assert [grid["name"] for grid in grids(app).values()] == ["X", "W_q", "W_k", "W_v", "Mask"]
    queries, keys, scores = (part.tolist() for part in shown(app).matrices)
    assert queries == [[1, 0, 2], [2, 2, 2], [2, 1, 3]]
    assert keys == [[0, 1, 1], [4, 4, 0], [2, 3, 1]]
    assert scores == [[2, 4, 4], [4, 16, 12], [4, 12, 10]]
    *_, scores_sent = shown(app).header["parts"]
    assert (scores_sent["rowNames"], scores_sent["columnNames"]) == (
        ["q0", "q1", "q2"],
        ["k0", "k1", "k2"],
    )
    assert scores_sent["whole"]
    assert {"input", "scale", "step"} <= app.controls.keys()
    assert not app.controls.keys() & {"variant", "mask", "s"}


@pytest.mark.parametrize(
    "link",
    [
        {"own_x": "<script>", "own_W_q": "1 _ 3"},
        {"own_W_q": "1 2 3", "own_mask": "1"},
        {"own_mask": "1 1 1; 1 5 1; 1 1 1"},
    ],
)
def test_what_does_not_fit_is_said_below_its_matrix_and_can_be_mended(link: dict[str, str]) -> None:
    app = opened("steps", **OWN, step="scores", **link)
    assert {name for name, grid in grids(app).items() if grid["wrong"]} == link.keys()
    assert app.notes == ["The steps follow as soon as every matrix fits."]
    assert "step" in app.controls
    for name in link:
        app.controls[name].set_value(getattr(OwnMatrixSettings(), name))
    assert title(app.run()) == "5. Scores"
    assert not any(grid["wrong"] for grid in grids(app).values())


def test_an_edited_matrix_is_taken_over_cell_by_cell_and_the_mask_follows_its_rows() -> None:
    app = opened("steps", **OWN)
    typed = ["1.5", " 1 ", "0,5", ""], [" ; ", "cat", "9" * 50, "a|b;c d"]
    app.tell("grid_own_x", "cells", typed)
    assert app.values["own_x"] == f"1.5 1 0.5 _; _ cat {'9' * 20} abcd"
    app.tell("grid_own_x", "cells", [list("1010"), list("0202")])
    assert app.query_params["own_x"] == "1 0 1 0; 0 2 0 2"
    assert app.query_params["own_mask"] == "1 1; 1 1"
    assert shown(app).result.tolist() == [[1, 0, 1, 0], [0, 2, 0, 2]]


@pytest.mark.parametrize(
    ("link", "variant"),
    [
        ({"scale": "none"}, "qkv"),
        ({"variant": "additive"}, "additive"),
        ({"hide": "variant"}, "dot"),
    ],
)
def test_by_the_menu_it_starts_with_steps_that_differ_unless_a_variant_was_chosen(
    link: dict[str, str], variant: str
) -> None:
    app = opened("explore", **link)
    app.query_params.clear()
    app.switch_page("pages/steps.py").run()
    assert app.values["variant"] == variant
    assert opened("steps").values["variant"] == "dot", "its address alone means what it always did"


def test_the_softmax_recomputes_from_what_stands_on_the_page() -> None:
    app = opened("steps", step="weights", mask="causal", row=4, column=1, variant="qkv")
    masked, weights = app.sent["matrices"].matrices
    hidden = torch.ones(6, 6).triu(1).bool()
    assert torch.equal(masked.isnan(), hidden)
    assert torch.equal(weights.isnan(), hidden)
    masked = masked.masked_fill(hidden, -torch.inf)
    powers = (masked - masked.amax(-1, keepdim=True)).exp()
    assert_close(weights.nan_to_num(0), powers / powers.sum(-1, keepdim=True))
    (table,) = app.tables
    logits, exponentials, shares = ([*map(read, column[:-1])] for column in [*table.values()][1:])
    near = {"abs": 1e-4}
    assert logits == pytest.approx(masked[4, :5].tolist(), **near)
    assert exponentials == pytest.approx(powers[4, :5].tolist(), **near)
    assert shares == pytest.approx(weights[4, :5].tolist(), **near)
    assert read([*table.values()][-1][-1]) == pytest.approx(1, **near)


def read(text: str) -> float:
    return float(text.replace("−", "-"))
