"""One run of a layer, step by step: what goes in, what comes out, how each cell is made.

Nothing here knows a variant by name: what differs between them is their projections, their
mixing, and their terms.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from attention.subjects.play.how.step import (
    NORMED,
    ROLES,
    ROTATED,
    STEPS,
    Computation,
    Step,
    StepSettings,
)
from attention.subjects.play.how.vectors import norm_step, projection_step, rotation_step, x_step
from attention.subjects.play.how.weighing import weights_step
from attention.subjects.play.how.weights import (
    dropout_step,
    joined_step,
    masked_step,
    mixed_scores_step,
    mixed_weights_step,
    output_step,
    scaled_step,
    scores_step,
)
from attention.subjects.play.how.without_softmax import decayed_step, erased_step

__all__ = ["STEPS", "Computation", "Step", "StepSettings", "step"]

MAKERS: dict[str, Callable[[Computation], Step]] = {
    "x": x_step,
    **{role: partial(projection_step, role=role) for role in ROLES},
    **{f"{NORMED} {role}": partial(norm_step, role=role) for role in ROLES[:2]},
    **{f"{ROTATED} {role}": partial(rotation_step, role=role) for role in ROLES[:2]},
    "scores": scores_step,
    "scaled": scaled_step,
    "mixed scores": lambda done: (
        mixed_scores_step(done) if done.trace.decay is None else decayed_step(done)
    ),
    "masked": masked_step,
    "erased": erased_step,
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
