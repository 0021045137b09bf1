"""hypothesis, or a skip that names it: a bare `pytest` works without the development tools."""

import pytest

hypothesis = pytest.importorskip("hypothesis", reason="needs hypothesis (requirements-dev.txt)")
given, settings, strategies = hypothesis.given, hypothesis.settings, hypothesis.strategies
