"""The page "Sources": each step's link shows the number that the step gives, as what it says."""

from __future__ import annotations

import re

import pytest

from attention.subjects.sources.steps import KINDS, TOLERANCE, Step
from tests.cases import over
from tests.subjects.sources.shown import every_step, residual, said, sizes

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
