"""The page "Sources": each step's link shows the number that the step gives, as what it says."""

from __future__ import annotations

import pytest

from attention.subjects.sources.steps import KINDS, TOLERANCE
from tests.running import opened
from tests.subjects.sources.shown import every_step, residual, tensor_on

STEPS = dict(every_step())


def of_kind(kind: str, sizes: bool = False) -> pytest.MarkDecorator:
    """Runs a test for each step of a kind; sizes: those whose numbers are sizes."""
    some = {
        name: step
        for name, step in STEPS.items()
        if step.kind == kind and ("×" in step.numbers) == sizes
    }
    return pytest.mark.parametrize("step", some.values(), ids=some.keys())


@of_kind("printed")
def test_what_is_printed_is_shown_but_for_the_rounding_of_its_inputs(step):
    assert residual(step) <= TOLERANCE


@of_kind("recovered")
def test_what_is_recovered_misses_the_printed_numbers_by_its_residual(step):
    assert residual(step) == pytest.approx(step.residual, rel=0.05)


@of_kind("ours")
def test_what_is_ours_is_shown(step):
    assert residual(step) <= 6e-5


@of_kind("claim")
def test_a_claim_on_unseeded_numbers_is_checked_at_its_link(step):
    table = opened(step.page, **step.link).table_with("so they are")
    assert dict(zip(table[""], table["so they are"], strict=True))[step.of] == step.numbers
