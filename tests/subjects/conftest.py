"""Fixtures of the tests of pages."""

from tests.figures.conftest import written
from tests.pages import hurried, patient, warm

__all__ = ["hurried", "patient", "warm", "written"]
