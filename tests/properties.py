"""hypothesis, the same examples on every run; or a skip that names it: a bare `pytest` works."""

import pytest

hypothesis = pytest.importorskip("hypothesis", reason="needs hypothesis (requirements-dev.txt)")
given, settings, strategies = hypothesis.given, hypothesis.settings, hypothesis.strategies

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")
