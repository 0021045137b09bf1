"""Fixtures of the tests of the app."""

from tests.pages import patient, warm

__all__ = ["patient", "warm"]
