"""Layouts of the files of each family of models: one class each, found in `LAYOUTS`."""

from attention.core.registry import import_modules
from attention.trained.layouts.base import LAYOUTS, Layout, TakesWeights
from attention.trained.layouts.llama import Llama

__all__ = ["LAYOUTS", "Layout", "Llama", "TakesWeights"]

import_modules(__name__, __path__)
