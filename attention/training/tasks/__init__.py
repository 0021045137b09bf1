"""Tasks that are learned live: one class each, found in `TASKS`."""

# In the order of the menu; tasks of other modules come behind.
from attention.training.tasks import lookup, race, repetition, giver  # isort: skip
from attention.core.registry import import_modules
from attention.training.tasks.base import (
    ATTENTION,
    TASKS,
    Batch,
    Example,
    Target,
    Task,
    register,
)

__all__ = [
    "ATTENTION",
    "TASKS",
    "Batch",
    "Example",
    "Target",
    "Task",
    "giver",
    "lookup",
    "race",
    "register",
    "repetition",
]

import_modules(__name__, __path__)
