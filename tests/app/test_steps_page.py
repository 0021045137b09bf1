"""The page "Step by step": every step by link, by hand, guessed, and in Chromium."""

from __future__ import annotations

import importlib
import json
import math
from typing import Any

import numpy
import pytest
import torch
from streamlit.testing.v1 import AppTest
from torch import Tensor

from attention.components.inputs import _one_cell
from attention.core.settings import settings_of
from attention.core.variants import VARIANTS
from attention.inputs.text import tokenize
from attention.lessons import steps
from attention.lessons.own_matrices import OwnMatrixSettings
from attention.lessons.steps import STEPS, StepSettings
from attention.pipeline import Settings, compute
from tests.browsing import Page
from tests.hostile import HOSTILE
from tests.running import messages, offer


def opened(**link: str) -> AppTest:
    app = AppTest.from_file("../streamlit_app.py", default_timeout=30)
    for name, value in link.items():
        app.query_params[name] = value
    app.switch_page("pages/steps.py")
    return app.run()


def shown(app: AppTest) -> tuple[dict[str, Any], list[Tensor]]:
    """What the matrices' script receives: its header, and the numbers of each matrix."""
    for header, data in messages(app):
        floats = torch.from_numpy(numpy.frombuffer(data, dtype=numpy.float32).copy())
        assert len(floats) == header["floats"]
        sizes = [part["rows"] * part["columns"] for part in header["parts"]]
        return header, list(floats.split(sizes))
    raise AssertionError("the page has no matrices")


def grids(app: AppTest) -> dict[str, dict[str, Any]]:
    """What the scripts of the matrices to edit receive, by name."""
    data = [json.loads(item.proto.json) for item in app.get("bidi_component") if item.proto.json]
    return {item["name"]: item for item in data if "cells" in item}


def said(app: AppTest) -> str:
    return "\n".join(
        item.proto.body for item in app.get("html") if "<style>" not in item.proto.body
    )


def title(app: AppTest) -> str:
    return str(app.subheader[0].value)


# By link


@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.parametrize("which", STEPS)
def test_every_step_of_every_variant_opens_by_its_link(name: str, which: str) -> None:
    app = opened(variant=name, step=which, vectors="random", d_model="25", row="3", column="4")
    assert not app.exception
    assert title(app).startswith(f"{STEPS.index(which) + 1}. ")
    header, _ = shown(app)
    assert header["chosen"] == [3, 4]
    assert "class='working'><p>" in said(app)
    assert "class='note'" not in said(app)
    keys = {item.key for kind in ("slider", "number_input") for item in app.get(kind)}
    assert {"row", "column"} <= keys
    assert ({"dropout", "drop_seed"} <= keys) == (which in ("dropout", "output"))


def test_a_link_decides_every_number_of_a_step() -> None:
    link = {"vectors": "random", "d_model": "7", "seed": "3", "variant": "qkv", "mask": "causal"}
    app = opened(**link, step="output", dropout="0.5", drop_seed="2", positions="sinusoidal")
    view = compute(
        Settings(
            vectors="random",
            d_model=7,
            seed=3,
            variant="qkv",
            mask="causal",
            positions="sinusoidal",
        ),
        lambda name: pytest.fail(name),
    )
    done = steps.compute(
        view.variant,
        view.tokens,
        view.vectors,
        view.trace.mask,
        StepSettings(dropout=0.5, drop_seed=2),
        positions=view.encoding,
    )
    _, (dropped, values, output) = shown(app)
    assert done.trace.dropped is not None
    assert torch.equal(dropped, done.trace.dropped.flatten())
    assert torch.equal(values, done.trace.values.flatten())
    assert torch.equal(output, done.trace.output.flatten())


def test_the_page_opens_on_the_vectors_of_the_sentence() -> None:
    app = opened()
    assert title(app) == "1. The vectors"
    header, (x,) = shown(app)
    assert header["parts"][0]["rowNames"] == ["the", "cat", "walks", "on", "the", "street"]
    assert len(x) == 6 * 50
    assert not header["hidden"]


@pytest.mark.parametrize("sentence", HOSTILE)
def test_hostile_sentences_are_neither_interpreted_nor_fatal(sentence: str) -> None:
    tokens = tokenize(sentence)
    app = opened(s=sentence, step="weights", mask="causal", variant="qkv")
    assert not app.exception
    if not tokens:
        assert "Type a sentence" in app.info[0].value
        return
    assert shown(app)[0]["parts"][0]["rowNames"] == tokens
    texts = [item.value for kind in (app.markdown, app.caption, app.info) for item in kind]
    labels = [item.label for item in app.get("button")]
    for token in tokens:
        if len(token) > 3 and not token.isalpha():
            assert not [text for text in (*texts, *labels) if token in text]
            assert token not in said(app) or "<" not in token


def test_an_empty_sentence_leaves_the_steps_to_choose_from() -> None:
    app = opened(s="", step="scores")
    assert not app.exception
    assert "Type a sentence" in app.info[0].value
    assert not app.subheader
    chosen = next(item for item in app.get("button_group") if item.key == "step")
    assert chosen.value == "scores"


@pytest.mark.parametrize("which", ["x", "scores", "weights", "output"])
def test_of_600_tokens_512_go_through_the_steps(which: str) -> None:
    app = opened(s="cat " * 600, step=which, row="511", column="511")
    assert not app.exception
    header, numbers = shown(app)
    assert header["parts"][-1]["rows"] == 512
    assert len(numbers[-1]) == 512 * header["parts"][-1]["columns"]
    assert "600 tokens, the last 88 left out" in offer(app)["words"]
    assert ("480 more" in said(app)) == (which in ("weights", "output"))


@pytest.mark.parametrize(
    ("link", "words"),
    [
        ({"step": "foo"}, "step must be one of x, queries"),
        ({"row": "-1"}, "row must lie between 0 and 511, got -1"),
        ({"row": "512"}, "row must lie between 0 and 511, got 512"),
        ({"column": "inf"}, "column must be a whole number"),
        ({"column": "1.5"}, "column must be a whole number"),
        ({"dropout": "7"}, "dropout must lie between 0.0 and 0.9, got 7.0"),
        ({"dropout": "1"}, "dropout must lie between 0.0 and 0.9, got 1.0"),
        ({"dropout": "nan"}, "dropout must lie between"),
        ({"drop_seed": "x"}, "drop_seed must be a whole number, got &#x27;x&#x27;"),
        ({"predict": "maybe"}, "predict must be one of off, on"),
        ({"input": "<script>"}, "got &#x27;&lt;script&gt;&#x27;"),
        ({"mask": "custom", "cells": "0:x"}, "Nothing is hidden"),
        ({"hand_x": "1 " * 5000, "input": "hand"}, "hand_x must have at most 9000 characters"),
    ],
)
def test_a_bad_link_falls_back_with_a_visible_word(link: dict[str, str], words: str) -> None:
    app = opened(**({"step": "dropout"} | link))
    assert not app.exception
    assert words in said(app)
    if "hand_x" not in link:
        assert title(app) == ("1. The vectors" if "step" in link else "9. Dropout")
        assert shown(app)[0]["chosen"] == [0, 0]


@pytest.mark.parametrize(("row", "column"), [("511", "0"), ("5", "511"), ("6", "6")])
def test_a_cell_beyond_the_matrix_is_the_nearest_one(row: str, column: str) -> None:
    header, _ = shown(opened(step="weights", row=row, column=column))
    assert header["chosen"] == [min(int(row), 5), min(int(column), 5)]


# Which controls there are


def test_one_goes_forward_and_back_between_the_first_step_and_the_last() -> None:
    app = opened()
    buttons = {item.label: item for item in app.button}
    assert buttons["Back"].disabled
    assert not buttons["Next"].disabled
    for which in STEPS[1:]:
        next(item for item in app.button if item.label == "Next").click().run()
        assert app.session_state["step"] == which
        assert title(app).startswith(f"{STEPS.index(which) + 1}. ")
    buttons = {item.label: item for item in app.button}
    assert buttons["Next"].disabled
    buttons["Back"].click().run()
    assert app.session_state["step"] == "dropout"


# Guessing


@pytest.mark.parametrize("which", STEPS[1:])
def test_while_one_guesses_the_result_stays_on_the_server(which: str) -> None:
    link = {"variant": "qkv", "d_k": "3", "vectors": "random", "d_model": "5", "mask": "causal"}
    open_header, open_numbers = shown(opened(**link, step=which))
    app = opened(**link, step=which, predict="on")
    header, numbers = shown(app)
    assert open_numbers[-1].nan_to_num().any()
    assert not numbers[-1].any()
    assert header["hidden"]
    assert header["chosen"] is None
    assert [part["hidden"] for part in header["parts"]] == [False] * (len(numbers) - 1) + [True]
    assert header["parts"][-1]["most"] == 1
    assert "working" not in said(app)
    assert "Which cell will hold the greatest number?" in app.info[0].value
    names = [part["name"] for part in open_header["parts"]]
    assert [part["name"] for part in header["parts"]] == names
    for before, after in zip(open_numbers[:-1], numbers[:-1], strict=True):
        assert torch.equal(before.nan_to_num(), after.nan_to_num()), "what it starts from is seen"


def test_there_is_nothing_to_guess_about_the_vectors() -> None:
    app = opened(predict="on")
    assert not shown(app)[0]["hidden"]
    assert not app.info


def guessed(s: str = "cat dog", **link: str) -> AppTest:
    """The page after a guess, made as the matrices' click makes it."""
    settings: dict[str, Any] = {"s": s, "vectors": "random", "d_model": 3}
    view = compute(Settings(**settings), lambda name: pytest.fail(name))
    done = steps.compute(view.variant, view.tokens, view.vectors, None, StepSettings())
    shared = {name: str(value) for name, value in settings.items()}
    app = opened(**shared, predict="on", **link)
    app.session_state["guess"] = steps.step("weights", done).identity
    return app.run()


def test_a_guess_reveals_the_numbers_and_gets_a_word() -> None:
    app = guessed(step="weights", row="0", column="1")
    header, numbers = shown(app)
    assert not header["hidden"]
    weights = numbers[-1].reshape(2, 2)
    right = weights[0, 1] == weights.max()
    assert ("<p class='note'>Right: " if right else "<p class='note'>Not “cat” and “dog”") in said(
        app
    )
    assert "class='working'" in said(app)


def test_what_is_said_about_a_guess_is_never_interpreted() -> None:
    app = guessed("<b>one</b> <i>two</i>", step="weights", row="0", column="1")
    assert not shown(app)[0]["hidden"]
    notes = [line for line in said(app).splitlines() if "note" in line]
    assert any("&lt;" in note and "holds" in note for note in notes)
    assert not any("<b>" in note or "<i>" in note for note in notes)


def test_a_guess_holds_for_its_own_numbers_only() -> None:
    assert shown(guessed(step="output"))[0]["hidden"]
    assert shown(guessed(step="weights", mask="causal"))[0]["hidden"]
    assert shown(guessed(step="weights", scale="none"))[0]["hidden"]
    assert not shown(guessed(step="weights"))[0]["hidden"]


def test_one_can_guess_again() -> None:
    app = guessed(step="weights")
    next(item for item in app.button if item.label == "Hide and guess again").click().run()
    assert not app.exception
    assert shown(app)[0]["hidden"]


# By hand

HAND = {"input": "hand", "scale": "none"}
ONE = {"hand_x": "2", "hand_q": "3", "hand_k": "1", "hand_v": "5", "hand_mask": "1"}


def test_the_example_stands_ready() -> None:
    app = opened(**HAND, step="scores")
    assert {name: len(grid["cells"]) for name, grid in grids(app).items()} == {
        "X": 3,
        "W_q": 4,
        "W_k": 4,
        "W_v": 4,
        "Mask": 3,
    }
    _, (queries, keys, scores) = shown(app)
    assert queries.tolist() == [1, 0, 2, 2, 2, 2, 2, 1, 3]
    assert keys.tolist() == [0, 1, 1, 4, 4, 0, 2, 3, 1]
    assert scores.tolist() == [2, 4, 4, 4, 16, 12, 4, 12, 10]


@pytest.mark.parametrize("which", STEPS)
def test_matrices_of_one_cell_go_through_every_step(which: str) -> None:
    app = opened(**HAND, **ONE, step=which, row="9", column="9", dropout="0")
    assert not app.exception
    header, numbers = shown(app)
    assert header["chosen"] == [0, 0]
    expected = {"x": 2, "queries": 6, "keys": 2, "values": 10, "output": 10}
    expected |= {"scores": 12, "scaled": 12, "masked": 12, "weights": 1, "dropout": 1}
    assert numbers[-1].tolist() == [expected[which]]


@pytest.mark.parametrize(
    ("name", "label", "text", "words"),
    [
        ("hand_x", "X", "<script>", "row 0, column 0 holds '<script>', which is no number"),
        ("hand_x", "X", "1 2; 3", "row 1 has 1 numbers, the rows above have 2"),
        ("hand_x", "X", "", "there are no numbers yet"),
        ("hand_x", "X", "1 _ 1 0; 0 2 0 2; 1 1 1 1", "row 0, column 1 is empty"),
        ("hand_q", "W_q", "1 2 3", "X has 4 columns, so this needs 4 rows, got 1"),
        ("hand_k", "W_k", "1;2;3;4", "W_q has 3 columns, so W_k must too, got 1"),
        ("hand_v", "W_v", "nan", "row 0, column 0 must lie within ±1e+06, got nan"),
        ("hand_mask", "Mask", "1", "X has 3 rows, so the mask is 3 × 3, got 1 × 1"),
        ("hand_mask", "Mask", "1 1 1; 1 5 1; 1 1 1", "the mask holds 1 where a query may attend"),
    ],
)
def test_what_does_not_fit_is_said_below_its_matrix_and_the_rest_lives(
    name: str, label: str, text: str, words: str
) -> None:
    app = opened(**HAND, step="scores", **{name: text})
    assert not app.exception
    assert words in grids(app)[label]["wrong"]
    assert [other for other, grid in grids(app).items() if grid["wrong"]] == [label]
    assert "The steps follow as soon as every matrix fits." in said(app)
    assert [item.key for item in app.get("button_group") if item.key == "step"]
    app.text_input(key=name).set_value(getattr(OwnMatrixSettings(), name)).run()
    assert not app.exception
    assert title(app) == "5. Scores"


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_in_a_matrix_is_neither_interpreted_nor_fatal(text: str) -> None:
    app = opened(**HAND, hand_k=text)
    assert not app.exception
    assert grids(app)["W_k"]["wrong"]
    assert "The steps follow as soon as every matrix fits." in said(app)
    texts = [item.value for kind in (app.markdown, app.caption, app.info) for item in kind]
    if len(text) > 5 and text.strip():
        assert not [shown for shown in (*texts, said(app)) if text in shown]


def test_the_example_comes_back() -> None:
    app = opened(**HAND, **ONE)
    next(item for item in app.button if item.label == "Start over with the example").click().run()
    assert not app.exception
    assert grids(app)["X"]["cells"] == [list("1010"), list("0202"), list("1111")]


def test_by_hand_there_is_no_sentence_and_no_variant_to_choose() -> None:
    keys = {item.key for item in opened(**HAND).get("button_group")}
    assert "variant" not in keys
    assert {"input", "scale", "step"} <= keys
    assert "s" not in {item.key for item in opened(**HAND).text_input}


@pytest.mark.parametrize(
    ("typed", "cell"),
    [
        ("1.5", "1.5"),
        (" 1 ", "1"),
        ("0,5", "0.5"),
        ("", "_"),
        (" ; ", "_"),
        ("cat", "cat"),
        ("9" * 50, "9" * 20),
        ("a|b;c d", "abcd"),
    ],
)
def test_what_is_typed_into_a_cell_stays_one_cell(typed: str, cell: str) -> None:
    assert _one_cell(typed) == cell


def test_settings_are_those_of_the_page() -> None:
    app = opened(step="output")
    for name in settings_of(StepSettings):
        assert name in app.session_state


def expect(element: Any) -> Any:
    """Playwright's waiting assertion; where it is missing, `open_page` has skipped before."""
    return importlib.import_module("playwright.sync_api").expect(element)


def result(page: Page) -> Any:
    """The matrix a step gives, the last of its row."""
    return page.locator(".st-key-matrices figure").last.locator("table")


def cell(page: Page, row: int, column: int) -> Any:
    return result(page).locator("tbody tr").nth(row).locator("td").nth(column)


def read(text: str) -> float:
    return float(text.replace("−", "-"))


def numbers(table: Any) -> list[list[float]]:
    """The numbers of a table as they stand on the page; masked cells are −inf."""
    lines = table.locator("tbody tr").all()
    texts = [line.locator("td").all_inner_texts() for line in lines]
    return [[read(text) if text.strip() else -math.inf for text in line] for line in texts]
