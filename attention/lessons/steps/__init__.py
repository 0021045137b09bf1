"""One run of a layer, step by step: what goes in, what comes out, how each cell is made.

Nothing here knows a variant by name: what differs between them is their projections, their
mixing, and their terms.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

from attention.display.matrix import Matrix
from attention.display.tables import number
from attention.lessons.steps.graph import Graph, graph
from attention.lessons.steps.step import STEPS, Computation, Step, StepSettings
from attention.lessons.steps.vectors import projection_step, x_step
from attention.lessons.steps.weights import (
    dropout_step,
    joined_step,
    masked_step,
    mixed_scores_step,
    mixed_weights_step,
    output_step,
    scaled_step,
    scores_step,
    weights_step,
)

__all__ = ["STEPS", "Computation", "Graph", "Step", "StepSettings", "graph", "step", "verdict"]

MAKERS: dict[str, Callable[[Computation], Step]] = {
    "x": x_step,
    "queries": lambda done: projection_step(done, "queries"),
    "keys": lambda done: projection_step(done, "keys"),
    "values": lambda done: projection_step(done, "values"),
    "scores": scores_step,
    "scaled": scaled_step,
    "mixed scores": mixed_scores_step,
    "masked": masked_step,
    "weights": weights_step,
    "mixed weights": mixed_weights_step,
    "dropout": dropout_step,
    "output": output_step,
    "joined": joined_step,
}


def step(name: str, done: Computation) -> Step:
    """The step of that name, one of the computation's. Raises ValueError for another.

    A step that shows the same as an earlier one is that one.
    """
    name = done.alike.get(name, name)
    if name not in done.steps:
        raise ValueError(f"step must be one of {', '.join(done.steps)}, got {name!r}")
    return MAKERS[name](done)


def verdict(step: Step, row: int, column: int) -> str:
    """What to say to somebody who took (row, column) for the greatest cell of what a step gives."""
    result = step.result
    shown = result.numbers
    if result.allowed is not None:
        shown = shown.masked_fill(~result.allowed, -torch.inf)
    most = float(shown.max())
    if most == -torch.inf:
        return "Every cell is hidden: there is no greatest one."
    guess, best = float(shown[row, column]), divmod(int(shown.argmax()), shown.shape[1])
    if number(guess) == number(most):
        return f"Right: {_cell(result, row, column)} is the greatest, {number(most)}."
    there = "it is hidden" if guess == -torch.inf else f"it holds {number(guess)}"
    return (
        f"Not {_cell(result, row, column)}, {there}; {_cell(result, *best)} holds {number(most)}."
    )


def _cell(matrix: Matrix, row: int, column: int) -> str:
    across = f"“{matrix.column_names[column]}”" if matrix.column_names else f"dimension {column}"
    return f"“{matrix.row_names[row]}” and {across}"
