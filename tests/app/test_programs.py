"""The programs that the menu of files has to be copied: each gives the numbers on screen."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from attention.core.printing import percent
from attention.subjects.model.options import AS_IN, TEXT, ZERO
from tests.app.test_page_files import asked
from tests.running import App
from tests.trained.packaged import packaged

SUN = "The sun rises in the east and sets in the"
DAVID = "David met Simon at the store. David gave the phone to"
ALL = {"words": "all words"}


def printed(app: App) -> list[Any]:
    """All that the program of a page prints."""
    code = app.sent["copy_program"].header["program"]
    said: list[Any] = []
    exec(compile(code, "program.py", "exec"), {"print": lambda *each: said.extend(each)})
    return said


def rows(app: App) -> Tensor:
    """The rows that a fold shows of the chosen word."""
    sent = app.sent["rows"]
    keys, query = len(sent.header["tokens"]), sent.header["selection"]["values"]["query"]
    shown, at = [], 0
    for row in sent.header["rows"]:
        own = sent.numbers[at : at + row["queries"] * keys].reshape(-1, keys)
        shown.append(own[query] if len(own) > 1 else own[0])
        at += own.numel()
    return torch.stack(shown)


TRAINED = {"model": "minilm", "layer": 3, "head": 1, "query": 4}
FOLDS: list[dict[str, Any]] = [
    {"query": 2},
    {"query": 4, "mask": "causal", "variant": "talking", "head": 1},
    {"s": "a \"cat\" ''' {sat} \\", "query": 1},
    TRAINED | {"cut": "0,2"},
    TRAINED | {"join": "words", "special": "ignored"},
]


@pytest.mark.parametrize("link", FOLDS, ids=str)
def test_the_program_of_the_map_prints_the_weights_of_the_chosen_word(link):
    app = asked("explore", link)
    (weights,) = printed(app)
    parts = app.sent["map_picture"].parts
    shown = parts.get("mixed", parts["weights"])[link["query"]]
    torch.testing.assert_close(weights, shown, atol=1e-5, rtol=0)


def test_the_program_of_how_prints_each_stage():
    app = asked("explore", {"fold": "how", "query": 2, "mask": "causal"})
    (stages,) = printed(app)
    shown = rows(app)
    torch.testing.assert_close(stages["scores"], shown[0], atol=1e-4, rtol=0)
    weights = stages["weights"]
    assert any(torch.allclose(weights, row.nan_to_num(0), atol=1e-5) for row in shown)


@pytest.mark.parametrize("link", [{"variant": "multihead"}, TRAINED], ids=str)
def test_the_program_of_all_heads_prints_a_row_for_each(link):
    app = asked("explore", {"fold": "all heads", "query": 2} | link)
    torch.testing.assert_close(printed(app)[0], rows(app), atol=1e-5, rtol=0)
    (every,) = printed(asked("explore", {"fold": "all heads", "query": 2} | link | ALL))
    torch.testing.assert_close(every[:, link.get("query", 2)], rows(app), atol=1e-5, rtol=0)


def test_the_program_of_against_prints_both_sides():
    link = {"fold": "against", "differs": "scale", "b_factor": 2.0, "query": 2}
    app = asked("explore", link)
    _, *sides, _ = rows(app)
    for ours, shown in zip(printed(app), sides, strict=True):
        torch.testing.assert_close(ours, shown, atol=1e-5, rtol=0)


def test_the_program_of_numbers_prints_the_new_vector_too():
    app = asked("explore", {"fold": "numbers", "variant": "qkv", "query": 2})
    weights, output = printed(app)
    parts = app.sent["sum_picture"].parts
    torch.testing.assert_close(weights, parts["weights"][2], atol=1e-5, rtol=0)
    torch.testing.assert_close(weights @ parts["values"], output, atol=1e-4, rtol=0)


WINDOWS: list[dict[str, Any]] = [
    {"model": "smollm2", "s": SUN, "layer": 23, "head": 3},
    {"model": "smollm2", "s": SUN, "layer": 23, "head": 3, "off_to": ZERO},
    {"model": "smollm2", "s": SUN, "layer": 23, "head": 3, "off_to": TEXT},
    {
        **{"model": "smollm2", "s": SUN, "layer": 23, "head": 3, "off_to": AS_IN},
        "off_second": SUN.replace("east", "west"),
    },
    {"model": "minilm", "s": SUN, "layer": 3, "head": 1, "query": 4},
    {"model": "pt-en", "s": "o gato dorme", "layer": 3, "head": 7, "query": 1},
    {"model": "smollm2-giver", "s": DAVID, "layer": 29, "head": 1},
]


@pytest.mark.parametrize("link", WINDOWS, ids=str)
def test_the_program_of_the_window_prints_the_answer_without_the_chosen_head(link):
    packaged(link["model"])
    app = asked("model", link)
    sent, (before, after, *other) = app.sent["model_window"], printed(app)
    header = sent.header
    if header["answer"]:
        assert percent(float(before)) == header["answer"]["before"]
    count = len(header["layers"]) * header["heads"]
    at = count * header["columns"] * (2 if other else 1) + link["layer"] * header["heads"]
    change = sent.numbers[at + link["head"]]
    torch.testing.assert_close(after - before, change, atol=1e-5, rtol=0)
    for each in other:
        assert percent(float(each), 1) in header["answer"]["other"]
    assert len(other) == bool(header["other"])


def test_the_program_of_the_window_prints_the_answer_with_several_heads_off():
    link = {"model": "smollm2", "s": SUN, "layer": 23, "head": 3, "off": "23.3, 1.1"}
    app = asked("model", link)
    shown = app.sent["model_window"].header["answer"]
    assert [percent(float(each)) for each in printed(app)] == [shown["before"], shown["now"]]
