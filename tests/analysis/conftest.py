"""Fixtures of the tests of runs that are changed or followed: every layout, two sentences each."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple

import pytest

from attention.trained.checkpoints import load_folder
from attention.trained.encoder_decoder import EncoderDecoder
from attention.trained.models import About, Model, Run
from tests.trained.conftest import _no_other_hosts, checkpoint
from tests.trained.making import FAMILIES, Checkpoint
from tests.trained.packaged import packaged

__all__ = ["_no_other_hosts", "checkpoint"]

CLOSE = {"atol": 1e-5, "rtol": 1e-4}


class Case(NamedTuple):
    """A model, and runs of two sentences of the same number of pieces."""

    model: Model
    run: Run
    other: Run


def case_of(name: str, checkpoint: Callable[[str], Checkpoint]) -> Case:
    """A model by the name of its family or package."""
    if name in FAMILIES:
        model: Model = load_folder(checkpoint(name).folder, About(name, name, "nobody"))
        texts = ["the cat sat on the mat", "the mat sat on the cat"]
    else:
        model = packaged(name)
        texts = ["The cat sat on the old mat.", "The dog sat on the red mat."]
    runs = [model.run(text) for text in texts]
    if isinstance(model, EncoderDecoder):
        outputs = [run.inputs[-1].pieces for run in runs]
        runs[1] = model.run_pieces(runs[1].pieces, outputs[0])
    return Case(model, *runs)


@pytest.fixture(scope="session")
def cases(checkpoint: Callable[[str], Checkpoint]) -> Callable[[str], Case]:
    """See `case_of`; each is made once."""
    return functools.cache(lambda name: case_of(name, checkpoint))


@pytest.fixture
def case(request: pytest.FixtureRequest, cases: Callable[[str], Case]) -> Case:
    return cases(request.param)


each_model = pytest.mark.parametrize("case", [*FAMILIES, "en-pt"], indirect=True)
each_tiny = pytest.mark.parametrize("case", [*FAMILIES], indirect=True)
