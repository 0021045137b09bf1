"""The page "Step by step": every step there is, guesses, and matrices of one's own."""

from __future__ import annotations

import html
from typing import Any

from torch.testing import assert_close

from attention.app.state.links import every_setting
from attention.core.settings import settings_of
from attention.figures.matrices import Matrices
from attention.subjects import steps
from attention.subjects.explore.how import Computation, StepSettings
from attention.subjects.explore.how import scene as scenes
from attention.subjects.explore.how.figures import StepGraph
from attention.subjects.explore.how.own_matrices import OwnMatrixSettings
from tests.cases import over
from tests.running import App, Sent, numbers_of, opened
from tests.subjects.explore.how.making import result_of

SMALL: dict[str, Any] = {"vectors": "random", "d_model": 25, "mask": ("causal", "length")}
OWN = {"input": "matrices", "scale": "none"}
TASK: dict[str, Any] = {"vectors": "random", "d_model": 3, "predict": "on", "s": "cat dog cow"}


def shown(app: App) -> Sent:
    """Message that the matrices of the step receive."""
    return app.sent["matrices"]


def hidden(app: App) -> bool:
    return bool(shown(app).header["hidden"])


def title(app: App) -> str:
    return str(app.subheader[0].value)


def wrong(app: App) -> set[str]:
    """The names of the matrices to edit that are said not to fit."""
    said = {words.partition(": ")[0] for words in app.missing}
    return {name for name, about in settings_of(OwnMatrixSettings).items() if about.label in said}


def type_in(app: App, matrix: int, row: int, column: int, text: str) -> App:
    """Type into a cell of the matrices to edit."""
    typed = {"matrix": matrix, "row": row, "column": column, "text": text}
    return app.tell("typed_matrices", "typed", typed)


def resize(app: App, stack: str, change: str) -> App:
    """Press a button that resizes a matrix."""
    return app.tell("sizes", "resized", {"stack": stack, "change": change})


def answered(app: App, typed: str) -> App:
    app.controls["typed"].set_value(typed)
    return app.press("Check")


def of_four_words(variant: str) -> tuple[dict[str, Any], Computation]:
    """The link to a computation over four words, and the computation."""
    settings = SMALL | {"variant": variant, "head": 3, "positions": "sinusoidal", "seed": 4}
    result = result_of("a b c d", **settings)
    dropout = {"dropout": 0.5, "dropout_seed": 2}
    return {"s": "a b c d"} | dropout | settings, Computation(
        result.layer,
        result.layer_trace,
        result.tokens,
        result.vectors,
        StepSettings(**dropout),
        head=result.head,
        positions=result.encoding,
        masks=result.masks,
    )


@over("variant", ["dot", "talking"])
def test_a_step_has_its_box_lit_and_its_matrices_with_the_cell_or_the_nearest(variant: str) -> None:
    _, done = of_four_words(variant)
    for name in done.steps:
        step = steps.step(name, done)
        (graph,) = scenes.steps(done, name, offered=True)
        assert isinstance(graph, StepGraph)
        assert (graph.names, graph.step) == ([*done.steps, ""], name)
        assert [*scenes.steps(done, name, offered=False)] == []
        for cell, chosen, notes in (((2, 3), (2, 3), 0), ((9, 3), (3, 3), 1)):
            why, *before, figure = scenes.matrices(step, cell, "", pickable=True)
            assert step.why in html.unescape(why.words)
            assert isinstance(figure, Matrices)
            assert (figure.parts, figure.chosen, len(before)) == (step.parts, chosen, notes)


def test_one_goes_through_all_steps_of_a_computation_with_its_numbers_and_back() -> None:
    link, done = of_four_words("dot")
    app = opened("steps", row=2, column=3, **link)
    for number, name in enumerate(done.steps, 1):
        step = steps.step(name, done)
        assert (title(app), app.values["step"]) == (f"{number}. {step.title}", name)
        graph = app.sent["step_graph"].header
        assert graph["boxes"][graph["chosen"]]["step"] == name
        assert_close(shown(app).matrices, numbers_of(step.parts), equal_nan=True)
        assert "class='working'><p>" in app.said
        drawn = app.controls.keys() & {"row", "column", "predict", "dropout", "dropout_seed"}
        assert len(drawn) == (5 if name in ("dropout", "output", "joined") else 3)
        ends = (number == 1, number == len(done.steps))
        assert (app.buttons["Back"].disabled, app.buttons["Next"].disabled) == ends
        assert len(app.buttons) == (3 if done.alike and number < 3 else 2)
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


def test_where_queries_keys_and_values_are_the_same_all_three_are_shown_and_where_they_differ() -> (
    None
):
    for name in ("queries", "keys", "values"):
        app = opened("steps", step=name)
        assert (title(app), app.notes) == ("2. Queries, keys and values", [])
    label = "Here q = k = v = x. See them differ: Query, key and value"
    differ = opened("steps", step="queries", row=1).press(label)
    assert (title(differ), differ.values["variant"]) == ("2. Queries", "qkv")
    assert label not in differ.buttons
    assert title(app.press("Next")) == "3. Scores"
    assert title(opened("steps", step="keys", variant="qkv")) == "3. Keys"


def test_a_click_chooses_a_cell() -> None:
    app = opened("steps").tell("step_graph", "step", "masked")
    assert app.query_params == {"step": "masked"}
    app = opened("steps").tell("matrices", "cell", [3, 20])
    assert app.query_params == {"row": "3", "column": "20"}
    assert shown(app).header["chosen"] == [3, 20]


@over(
    "case",
    [
        ({"scale": "none"}, "qkv"),
        ({"variant": "additive"}, "additive"),
        ({"hide": "variant"}, "dot"),
    ],
)
def test_by_the_menu_it_starts_with_steps_that_differ_unless_a_variant_was_chosen(
    case: tuple[dict[str, str], str],
) -> None:
    link, variant = case
    app = opened("explore", **link)
    app.query_params.clear()
    assert app.go("steps").values["variant"] == variant
    assert opened("steps").values["variant"] == "dot", "its address alone means what it always did"


# Guessing


def test_while_one_guesses_the_result_stays_on_the_server() -> None:
    link = SMALL | {"variant": "talking", "d_model": 5, "s": "cat dog"}
    for name in ("values", "scaled", "weights", "output"):
        known = shown(opened("steps", **link, step=name))
        app = opened("steps", **link, step=name, predict="on")
        asked, (*before, last) = shown(app).header["asked"], shown(app).header["parts"]
        assert known.result.nan_to_num().any()
        assert not shown(app).result.any()
        assert hidden(app)
        assert shown(app).header["chosen"] == (asked if asked == [0, 0] else None)
        assert (last["hidden"], last["most"]) == (True, 1)
        assert not any(part["hidden"] for part in before)
        assert "working" not in app.said
        assert_close(shown(app).matrices[:-1], known.matrices[:-1], equal_nan=True)


def test_a_guess_reveals_its_own_numbers_only_and_gets_a_word() -> None:
    link = TASK | {"s": "cat dog", "step": "weights", "question": "greatest"}
    weights = result_of("cat dog", d_model=3).trace.weights
    row, column = divmod(int(weights.argmax()), 2)
    right = opened("steps", **link).tell("matrices", "cell", [row, column])
    assert_close(shown(right).result, weights)
    assert shown(right).header["chosen"] == [row, column]
    assert "class='working'" in right.said
    assert right.notes[0].startswith("Right: ")
    assert hidden(right.choose("step", "output"))
    for name, value in (("mask", ["causal"]), ("scale", "none")):
        wrong = opened("steps", **link).tell("matrices", "cell", [1 - row, column])
        assert wrong.notes[0].startswith("Not “")
        assert not hidden(wrong)
        assert hidden(wrong.choose(name, value))


def test_a_link_asks_for_the_key_that_gets_most_in_its_row() -> None:
    app = opened("steps", **TASK, step="weights", question="row", row=2)
    asks = "Which key gets the most in the row of “cow”? Click it in that row."
    assert app.notes == [asks]
    assert shown(app).header["asked"] == [2, None]
    assert hidden(app.tell("matrices", "cell", [0, 1]))
    assert app.values["row"] == 2
    weights = result_of("cat dog cow", d_model=3).trace.weights
    for cell in ([2, int(weights[2].argmax())], [0, 1]):
        app.tell("matrices", "cell", cell)
        assert app.notes[0].startswith("Right: in the row of “cow” “")
        assert (shown(app).header["asked"], shown(app).header["chosen"]) == (None, cell)
    assert_close(shown(app).result, weights)
    assert hidden(app.press("Hide and guess again"))


@over("question", ["row", "number"])
def test_a_link_to_a_task_leads_to_no_other_task(question: str) -> None:
    link = TASK | {"step": "weights", "question": question, "row": 2, "variant": "qkv"}
    free = opened("steps", **link)
    names, all_names = {*free.sent["copy_link"].header["task"]}, every_setting().keys()
    assert {"s", "variant", "d_k", "scale", "step", "row", "question"} <= names <= all_names
    app = opened("steps", **link, hide=",".join(names))
    asked = app.notes
    assert asked == free.notes
    assert len(asked) == 1
    assert not app.controls.keys() & all_names
    assert "step_graph" not in app.sent
    assert not app.buttons.keys() & {"Back", "Next"}
    assert shown(app).header["pickable"] == (question == "row")
    if question == "row":
        app.tell("matrices", "cell", [2, 0])
    else:
        answered(app, "0.5")
    after = shown(app).header
    assert (after["hidden"], after["chosen"], after["pickable"]) == (False, [2, 0], False)
    assert app.press("Hide and guess again").notes == asked


def test_a_link_asks_for_a_number_or_where_too_many_meet_for_the_count_of_terms() -> None:
    app = opened("steps", variant="qkv", step="queries", predict="on")
    assert app.notes[0].startswith("How many terms are added up to one cell of Q?")
    assert answered(app, "50").notes == ["Right: 50 terms are added up to one cell of Q."]
    app = opened("steps", **TASK, step="scaled", question="number", row=1, column=2)
    assert "What number is in the cell of “dog” and “cow”?" in app.notes[0]
    assert shown(app).header["asked"] == [1, 2]
    answered(app, "<b>x")
    assert app.notes[1] == "“<b>x” is no number; one is written as in −0.25."
    assert hidden(app)
    exact = float(result_of("cat dog cow", d_model=3).trace.scaled[1, 2])
    answered(app, f"{exact:.5f}".replace(".", ","))
    assert app.notes[0].startswith("Right: “dog” and “cow” holds ")
    assert not hidden(app)
    app.press("Hide and guess again")
    assert answered(app, str(exact + 5)).notes[0].startswith("Not ")


def test_the_hidden_cells_are_marked_and_held_against_the_mask() -> None:
    app = opened("steps", **TASK, step="masked", mask="causal")
    assert "Which cells become hidden?" in app.notes[0]
    app.tell("marked_cells", "paint", {"cells": [[0, 1], [0, 2], [1, 0]], "allowed": False})
    app.tell("marked_cells", "paint", {"cells": [[1, 0]], "allowed": True})
    assert app.sent["marked_cells"].header["mask"] == [[1, 0, 0], [1, 1, 1], [1, 1, 1]]
    assert hidden(app.tell("matrices", "cell", [0, 0]))
    app.press("Check")
    assert app.notes[0] == "Not quite: 1 cell is hidden too, as “dog” and “cow”."
    assert not hidden(app)
    app.press("Hide and guess again")
    assert app.sent["marked_cells"].header["mask"] == [[1, 1, 1]] * 3


# Matrices of one's own


def test_the_example_stands_ready_without_sentence_and_variant() -> None:
    app = opened("steps", **OWN, step="scores")
    queries, keys, scores = (part.tolist() for part in shown(app).matrices)
    assert queries == [[1, 0, 2], [2, 2, 2], [2, 1, 3]]
    assert keys == [[0, 1, 1], [4, 4, 0], [2, 3, 1]]
    assert scores == [[2, 4, 4], [4, 16, 12], [4, 12, 10]]
    sent = shown(app).header["parts"][-1]
    names = [[f"{side}{at}" for at in range(3)] for side in "qk"]
    assert [sent["rowNames"], sent["columnNames"], sent["whole"]] == [*names, True]
    assert {"input", "scale", "step"} <= app.controls.keys()
    assert not app.controls.keys() & {"variant", "mask", "s"}


@over(
    "link",
    [
        {"own_x": "<script>", "own_W_q": "1 _ 3"},
        {"own_W_q": "1 2 3", "own_mask": "1"},
        {"own_mask": "1 1 1; 1 5 1; 1 1 1"},
    ],
)
def test_what_does_not_fit_is_said_below_the_matrices_by_name_and_can_be_mended(
    link: dict[str, str],
) -> None:
    app = opened("steps", **OWN, step="scores", **link)
    assert wrong(app) == link.keys()
    assert app.notes == ["The steps follow as soon as every matrix fits."]
    for name in link:
        app.controls[name].set_value(getattr(OwnMatrixSettings(), name))
    assert title(app.run()) == "5. Scores"
    assert not wrong(app)


def test_an_edited_matrix_is_taken_over_cell_by_cell_and_the_mask_follows_its_rows() -> None:
    app = opened("steps", **OWN)
    typed = ["1.5", " 1 ", "0,5", "", " ; ", "cat", "9" * 50, "a|b;c d"]
    for at, text in enumerate(typed):
        type_in(app, 0, *divmod(at, 4), text)
    assert app.values["own_x"] == f"1.5 1 0.5 _; _ cat {'9' * 20} abcd; 1 1 1 1"
    texts = app.sent["typed_matrices"].header["parts"][0]["texts"]
    assert texts == ["1.5", "1", "0.5", "", "", "cat", "9" * 20, "abcd", *"1111"]
    app.press("Start over with the example")
    resize(app, "own_x", "− row")
    assert app.query_params["own_x"] == "1 0 1 0; 0 2 0 2"
    assert app.query_params["own_mask"] == "1 1; 1 1"
    assert shown(app).result.tolist() == [[1, 0, 1, 0], [0, 2, 0, 2]]
    type_in(app, 4, 0, 1, "0")
    assert app.query_params["own_mask"] == "1 0; 1 1"
    assert wrong(resize(app, "own_x", "− column")) == {"own_W_q", "own_W_k", "own_W_v"}


def test_a_text_of_too_many_cells_is_no_grid_and_one_with_a_stroke_is_one_matrix() -> None:
    app = opened("steps", **OWN, own_x="1 " * 401, own_W_q="1 | 2")
    parts = {part["name"]: part["texts"] for part in app.sent["typed_matrices"].header["parts"]}
    assert [*parts] == ["W_q", "W_k", "W_v", "Mask"]
    assert parts["W_q"] == ["1", "|", "2"]
    assert "X: a matrix to edit has at most 400 cells, got 1 × 401" in app.missing
