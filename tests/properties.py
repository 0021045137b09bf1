"""hypothesis, the same examples on every run; a bare `pytest` without it skips its tests alone."""

from __future__ import annotations

import importlib
from types import FunctionType
from typing import Any

import pytest

REASON = "needs hypothesis (requirements-dev.txt)"


class _Missing:
    """Stands for all of hypothesis, as far as files of tests use it while they are imported."""

    def __getattr__(self, name: str) -> _Missing:
        return self

    def __call__(self, *arguments: Any, **more: Any) -> Any:
        """As a decorator of a test it skips the test."""
        test = arguments[0] if len(arguments) == 1 else None
        is_test = isinstance(test, FunctionType) and test.__name__.startswith("test_")
        return pytest.mark.skip(reason=REASON)(test) if is_test else self

    def __or__(self, other: Any) -> _Missing:
        return self


hypothesis: Any
try:
    hypothesis = importlib.import_module("hypothesis")
except ImportError:
    hypothesis = _Missing()

given: Any = hypothesis.given
settings: Any = hypothesis.settings
strategies: Any = hypothesis.strategies
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")
