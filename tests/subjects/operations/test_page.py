"""The page "Operations": numbers to edit, and the library's pictures of what comes of them."""

from __future__ import annotations

import html
import re

from torch.testing import assert_close

from attention.app.cached import runs
from attention.pipeline import Settings
from attention.subjects import operations
from attention.subjects.operations import OPERATIONS, Made, OperationSettings, Refused
from attention.subjects.operations.settings import CHANGES
from tests.cases import over
from tests.running import App, numbers_of, opened, viewed


def words(app: App) -> str:
    """The sentence of the working."""
    (sentence,) = re.findall(r"class='working'><p>(.*?)</p>", app.said)
    return html.unescape(sentence)


def expect_each_typed_once(app: App, texts: set[str]) -> None:
    """Every number of the texts can be typed over in one place of the page, and no other can."""
    parts = [part for row in app.rows for part in row.header["parts"]]
    seen = [text for part in parts for text in part["texts"] if text is not None]
    assert sorted(seen) == sorted(re.findall(r"[^\s;|]+", " ".join(map(app.values.get, texts))))


def type_in(app: App, key: str, typed: str, matrix: int = 0, row: int = 0, column: int = 0) -> App:
    """Type into a cell of the matrices of that key."""
    cell = {"matrix": matrix, "row": row, "column": column, "text": typed}
    return app.tell(key, "typed", cell)


def prepared(app: App) -> Made | Refused:
    """The operation of the page, worked out from what its controls say."""
    return operations.prepare(viewed("operations", **app.values).of(OperationSettings))


def test_the_page_opens_on_a_product_one_can_follow():
    app = opened("operations")
    assert app.values["bmm_a"] == OperationSettings.bmm_a
    (table,) = app.tables
    assert table["product"] == ["4", "0", "12", "16"]
    assert words(app).startswith("C[0] in row 1, column 0: row 1 of A[0] meets column 0 of B[0]")
    assert any("(2, 2, 3) × (2, 3, 2) → (2, 2, 2)" in item.value for item in app.text)


def test_all_matrices_of_a_stack_have_one_scale_of_colours_which_is_told():
    app = opened("operations", bmm_b="1 0; 0 1; 2 -1 | 0 0; 0 0; 0 0")
    assert [[part["most"] for part in row.header["parts"]] for row in app.rows] == [[6, 2, 16]] * 2
    assert any("Full colour: 6 in A, 2 in B, 16 in C." in words for words in app.told)


@over("name", OPERATIONS)
def test_an_operation_is_filled_from_ones_own_sentence_and_says_with_what(name):
    app = opened("operations", s="a <b> sat", operation=name).take("your sentence")
    assert isinstance(prepared(app), Made)
    assert any("“a &lt;b&gt; sat”" in words for words in re.findall("<p.*?</p>", app.said))
    own = prepared(opened("operations", s="my green boat", operation=name).take("your sentence"))
    assert isinstance(own, Made)
    if name == "softmax":
        weights = runs.result_of(Settings("my green boat")).trace.weights
        assert_close(own.ours[0], weights, atol=0.02, rtol=0.1)


def test_whoever_comes_with_a_sentence_finds_its_numbers():
    app = opened("explore", s="my green boat").go("operations")
    assert app.values["bmm_a"].count(";") == 2
    assert app.values["bmm_a"] != OperationSettings.bmm_a
    assert opened("operations", s="my green boat").values["bmm_a"] == OperationSettings.bmm_a


@over("name", OPERATIONS)
def test_an_operation_has_grids_torchs_answer_and_examples_to_take(name):
    app = opened("operations", operation=name)
    assert (app.values["operation"], len(app.latex)) == (name, 1)
    assert len(app.code) == (2 if name == "parity" else 1)
    texts = {text for text in OPERATIONS[name].inputs if text in CHANGES} - {"valid_lens_2d"}
    assert {box.key.partition(":")[0] for box in app.text_input} == texts
    expect_each_typed_once(app, texts)
    example, numbers = [*OPERATIONS[name].examples.items()][-1]
    for taken, changed in ((example, numbers), ("the first example", {})):
        made = operations.prepare(OperationSettings(name, **changed))
        assert isinstance(made, Made)
        beside = made.contrast.pictures if made.contrast else ()
        app.take(taken)
        settings = OperationSettings(name, **changed)
        torchs = [] if made.agrees or not made.answer else [made.answer]
        shown = (*operations.given(settings, made), *made.pictures, *torchs, *beside)
        expected = [numbers_of(parts) for parts in shown]
        assert_close([row.matrices for row in app.rows], expected, equal_nan=True)
        assert made.compared in app.told
        expect_each_typed_once(app, texts)
    assert app.query_params.keys() <= {"operation"}


def test_parity_has_a_mask_or_none_in_the_link_and_a_seed_where_it_drops():
    link = {"operation": "parity", "parity_mask": ""}
    for app in (opened("operations", **link), opened("operations", operation="parity")):
        parts = app.take("no mask").sent["picture_0"].header["parts"]
        assert [part["name"] for part in parts] == [*"qkv", "reference", "ours"]
        assert app.query_params["parity_mask"] == ""
        assert "dropout_seed" not in app.values
    assert "dropout_seed" in opened("operations", **link, dropout=0.5).values


def test_sizes_that_do_not_meet_show_torchs_own_words_beside_ours_and_mend():
    app = opened("operations").take("sizes that do not meet")
    for said in ("must be the same", "first two dimensions of batch2 tensor", "no partner"):
        assert said in app.said
    assert app.resize("bmm_b", "− row").tables[0]["product"][-1] == "16"


def possible(app: App) -> dict[str, bool]:
    """The buttons of the first stack, each with True if it can be pressed."""
    return dict(app.sent["sizes"].header["stacks"][0]["changes"])


def test_a_number_is_taken_over_in_its_place_of_the_stack_unless_it_is_none():
    app = opened("operations", operation="softmax", softmax_x="1")
    assert not possible(app)["− row"]
    app.resize("softmax_x", "+ column").resize("softmax_x", "+ matrix")
    assert app.values["softmax_x"] == "1 0 | 1 0"
    assert possible(app)["− matrix"]
    assert type_in(app, "picture_1", " 0,5").query_params["softmax_x"] == "1 0 | 0.5 0"
    for typed, said in (
        ("cat", "x[1]: row 0, column 1 holds 'cat', which is no number. Nothing is changed."),
        ("", "x[1]: row 0, column 1 is empty: a number is needed. Nothing is changed."),
        ("9" * 999, "x[1]: row 0, column 1 must lie within ±1e+06, got 99999999999999999999."),
        ("1 | 2; 3", ""),
    ):
        type_in(app, "picture_1", typed, column=1)
        assert " ".join(app.missing).startswith(said)
        assert app.values["softmax_x"] == ("1 0 | 0.5 0" if said else "1 0 | 0.5 123")
    for beyond in ({"row": 1}, {"column": 2}, {"matrix": 1}, {"matrix": 9}):
        assert type_in(app, "picture_1", "5", **beyond).values["softmax_x"] == "1 0 | 0.5 123"
    app.resize("softmax_x", "+ everything")
    app.resize("s", "+ row")
    assert app.values["softmax_x"] == "1 0 | 0.5 123"
    app = opened("operations", operation="sequence_mask", valid_lens_2d="4 4; 4 4")
    assert type_in(app, "picture_0", "1.5", 1).missing[0].startswith("a valid length is a whole")
    assert type_in(app, "picture_0", "1", 1, 1).values["valid_lens"] == "2 1"
    app.take("a length of 0").choose("lens_dim", "2-D")  # an example holds for lengths of any kind
    assert app.values["valid_lens_2d"] == app.query_params["valid_lens_2d"] == "0 3; 2 0"
    assert type_in(app, "picture_1", "4", 1, 1).values["valid_lens_2d"] == "0 3; 2 4"


def test_wrong_cells_of_a_link_stand_where_they_are_and_can_be_mended_there():
    app = opened("operations", bmm_a="1 <b>; 3")
    parts = app.sent["picture_given_0"].header["parts"]
    assert parts[0]["texts"] == ["1", "<b>", "3", ""]
    type_in(app, "picture_given_0", "2", row=1, column=1)
    assert app.query_params["bmm_a"] == "1 <b>; 3 2"
    type_in(app, "picture_given_0", "0", column=1)
    assert "(1, 2, 2) × (2, 3, 2) cannot be multiplied." in " ".join(app.missing)


def test_ten_matrices_are_typed_into_and_chosen_in():
    app = opened("operations").take("ten matrices")
    assert not possible(app)["+ matrix"]
    type_in(app, "picture_9", "2")
    type_in(app, "picture_9", "1", column=1).tell("picture_9", "cell", [0, 0])
    assert words(app).startswith("C[9] in row 0, column 0")
    assert app.tables[0]["product"][-1] == "5"
    app = opened("operations").tell("picture_1", "cell", [0, 1])
    chosen = {"operation_batch": "1", "operation_row": "0", "operation_column": "1"}
    assert app.query_params == chosen
    beyond = dict.fromkeys(chosen, 9)
    assert words(opened("operations", operation="temperature", **beyond)).startswith("T = 0.5")
