"""Fixtures of the tests of the app."""

from tests.pages import hurried, patient, warm

__all__ = ["hurried", "patient", "warm"]
