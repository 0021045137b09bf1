"""Layouts of the files of each family of models: one class each, found in `LAYOUTS`."""

from attention.trained.layouts import bart, bert, gpt2, llama, t5
from attention.trained.layouts.base import LAYOUTS, Layout, TakesWeights
from attention.trained.layouts.llama import Llama

__all__ = ["LAYOUTS", "Layout", "Llama", "TakesWeights", "bart", "bert", "gpt2", "llama", "t5"]
