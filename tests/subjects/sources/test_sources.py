"""The page "Sources": each step's link shows the number that the step gives, as what it says."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from attention.app.state.links import every_setting
from attention.figures.matrix import read_stack, write_matrix
from attention.subjects.sources.steps import KINDS, TOLERANCE, Step, names
from attention.subjects.sources.words import as_markdown, kind_of
from tests.cases import over
from tests.running import opened, viewed
from tests.subjects.sources.shown import every_step, residual, said, sizes, tensor_on

STEPS = dict(every_step())
ROUNDED = 6e-5  # a number of four decimals, and the last digit of float32


def of_kind(kind: str) -> list[str]:
    """Names of the steps whose number is of a kind."""
    return [name for name, step in STEPS.items() if step.kind == kind]


def expect(step: Step, tolerance: float = ROUNDED) -> None:
    """A step's numbers, sizes or words are those that its link shows."""
    if re.fullmatch(r"[\d ×]*×[\d ×]*", step.numbers):
        assert sizes(step) == step.numbers
    elif re.fullmatch(r"[-\d. ;|]+", step.numbers):
        assert residual(step) <= tolerance
    else:
        assert said(step) == step.numbers


@over("name", of_kind("printed"))
def test_what_is_printed_is_shown_but_for_the_rounding_of_its_inputs(name):
    expect(STEPS[name], TOLERANCE)


@over("name", of_kind("recovered"))
def test_what_is_recovered_misses_the_printed_numbers_by_its_residual(name):
    assert residual(STEPS[name]) == pytest.approx(STEPS[name].residual, rel=0.05, abs=1e-7)


@over("name", of_kind("claim"))
def test_a_claim_on_unseeded_numbers_holds_at_its_link(name):
    assert not re.fullmatch(r"[-\d. ;|]+", STEPS[name].numbers)
    expect(STEPS[name])


@over("name", of_kind("ours"))
def test_a_number_of_ours_is_the_one_that_its_link_shows(name):
    expect(STEPS[name])


def test_there_are_numbers_of_every_kind():
    assert {step.kind for step in STEPS.values()} == {*KINDS}


def test_each_link_sets_what_it_says_and_nothing_that_has_no_effect():
    for name, step in STEPS.items():
        view = viewed(step.page, **step.link)
        assert {key: view[key] for key in step.link} == {
            key: every_setting()[key].parse_all([str(value)]) for key, value in step.link.items()
        }, name
        assert [key for key in step.link if not view.applies(key)] == [], name


def test_the_page_has_every_step_of_the_chosen_document_with_number_kind_and_link():
    for document in names():
        body = opened("sources", document=document).said
        steps = [step for name, step in STEPS.items() if name.startswith(document)]
        assert re.findall(r"href='([^']*)'", body) == [html.escape(step.address) for step in steps]
        assert re.findall(r"<data>(.*?)</data> <small>(.*?)</small>", body) == [
            (html.escape(step.first), kind_of(step)) for step in steps
        ]


def test_the_docs_tell_the_same():
    file = Path(__file__).parents[3] / "docs" / "sources.md"
    assert file.read_text("utf-8") == as_markdown(), "python -m tests.app.link_table --write"


@over(
    "given, words",
    [
        ({"kind": "guessed"}, "kind must be one of printed, recovered, claim, ours, got 'guessed'"),
        ({"kind": "recovered"}, "a residual belongs to what is recovered"),
        ({"kind": "ours", "residual": 0.1}, "a residual belongs to what is recovered"),
    ],
)
def test_a_number_that_does_not_say_what_it_is_is_refused(given, words):
    with pytest.raises(ValueError, match=words):
        Step("a step", "operations", {}, numbers="1", **given)


# The notebook prints neither W_q nor W_k: they follow from what it prints


def stack(name: str, setting: str) -> Tensor:
    return read_stack(str(STEPS[name].link[setting])).double()


def test_w_q_follows_from_the_printed_queries_and_w_k_is_one_of_many():
    x, queries = stack("PyTorch notebook 12", "bmm_a"), stack("PyTorch notebook 13", "bmm_a")
    W_q = torch.linalg.lstsq(x.flatten(0, 1), queries.flatten(0, 1)).solution
    assert_close(stack("PyTorch notebook 12", "bmm_b"), W_q.expand(2, 4, 4), atol=1e-6, rtol=0)
    equations = torch.einsum("bic,bja->bijac", queries, x).flatten(0, 2).flatten(1)
    assert equations.shape == (18, 16)
    assert torch.linalg.matrix_rank(equations, rtol=1e-3) == 14
    raw = read_stack(STEPS["PyTorch notebook 13"].numbers).double().flatten()
    W_k = torch.linalg.lstsq(equations, raw, rcond=1e-3, driver="gelsd").solution.view(4, 4)
    keys = stack("PyTorch notebook 13", "bmm_b").mT
    assert_close(keys, x @ W_k, atol=3e-6, rtol=0)
    for name in ("PyTorch notebook 16", "PyTorch notebook 17"):
        assert_close(stack(name, "own_W_q")[0], W_q, atol=1e-6, rtol=0)
        assert_close(stack(name, "own_W_k")[0], W_k, atol=1e-6, rtol=0)


def test_the_second_block_begins_with_the_output_of_the_first():
    once, again = STEPS["Understanding Attention 14"], STEPS["Understanding Attention 15"]
    assert again.link == {**once.link, "times": 2}
    first = tensor_on(opened(once.page, **once.link), once.of)[0]
    by_hand = opened(once.page, **{**once.link, "own_x": write_matrix(first)})
    expected = tensor_on(opened(again.page, **again.link), again.of)
    assert_close(tensor_on(by_hand, once.of), expected, atol=1e-6, rtol=0)


def test_solving_needs_as_many_tokens_as_numbers_in_each():
    square, tall = torch.rand(3, 3), torch.rand(4, 3)
    torch.linalg.solve(square, square @ square.T)
    with pytest.raises(RuntimeError, match="square"):
        torch.linalg.solve(tall, tall @ tall.T)
