"""The fold "How": stages in rows and in matrices, and matrices of one's own."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.testing import assert_close

from attention.app.state.openings import ALL_WORDS
from attention.core.settings import settings_of
from attention.subjects.play.how import Computation, StepSettings, step
from attention.subjects.play.how.own_matrices import OwnMatrixSettings
from tests.cases import over
from tests.running import App, Sent, numbers_of, opened
from tests.subjects.play.how.making import result_of

SMALL: dict[str, Any] = {"vectors": "random", "d_model": 25, "mask": ("causal", "length")}


def how(**link: Any) -> App:
    """The fold with one of its stages in matrices."""
    return opened("explore", fold="how", words=ALL_WORDS, **link)


def own(**link: Any) -> App:
    """The fold with matrices of one's own."""
    return opened("explore", fold="how", input="matrices", scale="none", **link)


def shown(app: App) -> Sent:
    """Message that the matrices of the step receive."""
    return app.sent["matrices"]


def wrong(app: App) -> set[str]:
    """The names of the matrices to edit that are said not to fit."""
    said = {words.partition(": ")[0] for words in app.missing}
    return {name for name, about in settings_of(OwnMatrixSettings).items() if about.label in said}


def type_in(app: App, matrix: int, row: int, column: int, text: str) -> App:
    """Type into a cell of the matrices to edit."""
    typed = {"matrix": matrix, "row": row, "column": column, "text": text}
    return app.tell("typed_matrices", "typed", typed)


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


# Rows and matrices


def test_a_click_on_a_row_tells_its_stage_and_one_on_a_number_how_it_came_about():
    app = opened("explore", fold="how", query=2).tell("rows", "row", 2)
    assert app.query_params == {"fold": "how", "query": "2", "step": "weights"}
    assert app.sent["rows"].header["chosen"] == 2
    assert any(words.startswith("softmax: ") for words in app.told)
    assert "class='working'" not in app.said
    app.tell("rows", "cell", [0, 3])
    assert app.query_params == {"fold": "how", "query": "2", "column": "3"}
    assert "class='working'" in app.said
    (worked,) = (part.header for part in app.sent.values() if "folded" in part.header)
    assert not worked["folded"], "a click asked for it"
    again = opened("explore", **app.query_params)
    assert "class='working'" not in app.tell("rows", "cell", [3, 3]).said, "of a length"
    app.tell("rows", "cell", [0, 3])
    assert (again.said, again.sent["rows"].header) == (app.said, app.sent["rows"].header)


def test_a_stage_that_the_layer_has_not_is_named_beside_the_one_that_is_shown():
    told = "Stage “erased” is missing or does nothing here: “query · key” is shown."
    for link in ({}, {"words": ALL_WORDS}):
        app = opened("explore", fold="how", step="erased", **link)
        assert told in app.notes
    assert app.controls["step"].value == "scores"
    assert shown(how(query=511, column=511)).header["chosen"] == [5, 5]


@over("variant", ["dot", "talking"])
def test_every_stage_can_be_seen_for_all_words_in_matrices_with_a_cell_worked_out(variant):
    link, done = of_four_words(variant)
    app = how(query=2, column=3, **link)
    assert app.controls["step"].options == list(done.steps)
    for name in done.steps:
        app.choose("step", name)
        assert_close(shown(app).matrices, numbers_of(step(name, done).parts), equal_nan=True)
        assert shown(app).header["chosen"] == [2, 3]
        assert "class='working'><p>" in app.said
        folded = [part.header["folded"] for part in app.sent.values() if "folded" in part.header]
        assert folded == [True]
        drops = app.controls.keys() & {"dropout", "dropout_seed"}
        assert len(drops) == (2 if name in ("dropout", "output", "joined") else 0)
    app.tell("matrices", "cell", [3, 1])
    assert (app.selection["query"], app.query_params["column"]) == (3, "1")


@over("name", ["query", "column"])
def test_a_cell_of_which_a_link_hides_the_setting_stays(name):
    app = how(query=2, column=3, hide=name).tell("matrices", "cell", [1, 1])
    assert (shown(app).header["pickable"], shown(app).header["chosen"]) == (False, [2, 3])


def test_where_queries_keys_and_values_are_the_same_one_can_see_them_differ():
    one, *others = (shown(how(step=name)).header for name in ("queries", "keys", "values"))
    assert others == [one, one]
    label = "Here q = k = v. See them differ"
    app = how(step="queries").press(label)
    assert app.values["reader"] == "qkv"
    assert label not in app.buttons
    assert "keys" in app.controls["step"].options


# Matrices of one's own


def test_the_example_stands_ready_without_sentence_and_variant():
    app = own(step="scores")
    assert shown(app).result.tolist() == [[2, 4, 4], [4, 16, 12], [4, 12, 10]]
    sent = shown(app).header["parts"][-1]
    names = [[f"{side}{at}" for at in range(3)] for side in "qk"]
    assert [sent["rowNames"], sent["columnNames"], sent["whole"]] == [*names, True]
    assert {"scale", "step"} <= app.controls.keys()
    assert not app.controls.keys() & {"variant", "mask", "s"}


@over(
    "link",
    [
        {"own_x": "<script>", "own_W_q": "1 _ 3"},
        {"own_W_q": "1 2 3", "own_mask": "1"},
        {"own_mask": "1 1 1; 1 5 1; 1 1 1"},
    ],
)
def test_what_does_not_fit_is_said_below_the_matrices_by_name_and_can_be_mended(link):
    app = own(step="scores", **link)
    assert wrong(app) == link.keys()
    assert app.notes == ["The steps follow as soon as every matrix fits."]
    for name in link:
        app.controls[name].set_value(getattr(OwnMatrixSettings(), name))
    assert shown(app.run()).header["parts"][-1]["name"] == "scores"
    assert not wrong(app)


def test_an_edited_matrix_is_taken_over_cell_by_cell_and_the_mask_follows_its_rows():
    app = own()
    type_in(app, 0, 1, 1, "cat")
    assert app.values["own_x"] == "1 0 1 0; 0 cat 0 2; 1 1 1 1"
    assert app.sent["typed_matrices"].header["parts"][0]["texts"] == [*"10100", "cat", *"021111"]
    app.take("Illustrated example")
    app.resize("own_x", "− row")
    assert app.query_params["own_x"] == "1 0 1 0; 0 2 0 2"
    assert app.query_params["own_mask"] == "1 1; 1 1"
    assert shown(app).result.tolist() == [[2, 4], [4, 16]]
    type_in(app, 4, 0, 1, "0")
    assert app.query_params["own_mask"] == "1 0; 1 1"
    assert wrong(app.resize("own_x", "− column")) == {"own_W_q", "own_W_k", "own_W_v"}


def test_presets_begin_with_the_identity_or_with_the_numbers_of_a_document():
    app = own(step="scores").take("Identity for each W")
    x = torch.tensor([[1.0, 0, 1, 0], [0, 2, 0, 2], [1, 1, 1, 1]])
    assert_close(shown(app).result, x @ x.T)
    app.take("PyTorch notebook’s input")
    assert_close(shown(app).result[0], torch.tensor([4.0935, 1.1339, -1.4127]), atol=3e-4, rtol=0)
    app.choose("own_item", 1)
    assert_close(shown(app).result[0], torch.tensor([4.6638, -1.8554, -3.3616]), atol=3e-4, rtol=0)
    assert app.told[0].endswith("X has 2 matrices. Each attends within itself; X[1] is shown.")
    assert "own_item" not in app.resize("own_x", "− matrix").controls
    assert shown(app).result[0, 0] == pytest.approx(4.0935, abs=3e-4)
    app.choose("own_x", "1 cat").take("Identity for each W")
    assert app.values["own_x"] == OwnMatrixSettings().own_x
