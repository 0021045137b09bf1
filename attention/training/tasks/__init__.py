"""Tasks that are learned live: one class each, found in `TASKS`."""

from attention.training.tasks import graph, lookup, repetition, sort
from attention.training.tasks.base import ATTENTION, TASKS, Batch, Example, Target, Task

__all__ = [
    "ATTENTION",
    "TASKS",
    "Batch",
    "Example",
    "Target",
    "Task",
    "graph",
    "lookup",
    "repetition",
    "sort",
]
