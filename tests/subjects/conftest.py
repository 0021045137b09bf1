"""Fixtures of the tests of pages."""

from tests.figures.conftest import written
from tests.pages import patient, warm

__all__ = ["patient", "warm", "written"]
