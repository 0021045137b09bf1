"""The models that optional packages carry, each read once for the whole run."""

from __future__ import annotations

import functools

import pytest

from attention.trained import sources
from attention.trained.models import Model, Run

each_packaged = pytest.mark.parametrize("name", sources.PACKAGED)


@functools.cache
def read(name: str) -> Model:
    """The model of that name."""
    return sources.load(name, read)


def packaged(name: str) -> Model:
    """The model of that name; a test that asks for it skips where its package is missing."""
    if name not in sources.names():
        pytest.skip(f"needs the package that carries {name} (requirements-models.txt)")
    return read(name)


@functools.lru_cache(maxsize=64)
def run_model(name: str, text: str) -> Run:
    """A text through the model of that name."""
    return packaged(name).run(text)
