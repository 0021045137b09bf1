"""Fixtures of the tests of changed runs: known models of every layout."""

from tests.analysis.conftest import _no_other_hosts, case, cases, checkpoint

__all__ = ["_no_other_hosts", "case", "cases", "checkpoint"]
