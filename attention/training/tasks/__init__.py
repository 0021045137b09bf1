"""Tasks that are learned live: one class each, found in `TASKS`."""

from attention.training.tasks import curve, dates, grammar, graph, lookup, repetition, sort
from attention.training.tasks.base import ATTENTION, TASKS, Batch, Example, Points, Target, Task

__all__ = [
    "ATTENTION",
    "TASKS",
    "Batch",
    "Example",
    "Points",
    "Target",
    "Task",
    "curve",
    "dates",
    "grammar",
    "graph",
    "lookup",
    "repetition",
    "sort",
]
