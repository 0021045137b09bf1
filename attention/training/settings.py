"""Settings of a training: task, seed, sizes, and one thing that makes learning suffer."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

from attention.core.arguments import must_be
from attention.core.settings import choice, validate, whole

USUAL = "usual"
NONE = "none"
# Each with what it means: one of them at a time is the difference from the usual training.
HANDICAPS = {
    NONE: "nothing is missing",
    "no scale": "scores are not divided by √d_k, and d_k is 256",
    "no mask": "while it learns, each position also sees what it has to tell",
    "no positions": "nothing says where a token stands",
    "one layer": "one layer alone",
    "no early stopping": "it goes on for 40 steps in place of 12, at three times the rate",
}
LAYERS, HEADS, WIDTHS = ("1", "2", "3"), ("1", "2", "4", "8"), ("8", "16", "32", "64", "128", "256")
SIZES = ("layers", "heads", "width", "steps", "rate")
STEPS, RATES = ("100", "300", "600", "1000", "2000"), ("0.0003", "0.001", "0.003", "0.01")


REGISTERED: dict[str, Any] = {}  # classes of tasks by name, see `tasks.base.TASKS`


def _usual(label: str, options: tuple[str, ...]) -> str:
    help = f"{USUAL}: as many as the task needs."
    field: str = choice(USUAL, label, (USUAL, *options), help=help)
    return field


@dataclass(frozen=True)
class TrainingSettings:
    """All that decides a training, on one machine to the last bit."""

    task: str = choice(
        "look-up",
        "Task",
        lambda: tuple(REGISTERED),
        names=lambda: {
            name: f"{each.title}; learned live, training, RNN, GRU, linear layer"
            for name, each in REGISTERED.items()
        },
    )
    handicap: str = choice(
        NONE, "Take away", tuple(HANDICAPS), help="One thing less: watch learning suffer."
    )
    learn_layers: str = _usual("Layers", LAYERS)
    learn_heads: str = _usual("Heads in each layer", HEADS)
    learn_width: str = _usual("Width of the vectors, d_model", WIDTHS)
    learn_steps: str = _usual("Steps", STEPS)
    learn_rate: str = _usual("Learning rate", RATES)
    learn_seed: int = whole(0, "Seed of the training", 0, 9999)

    def __post_init__(self) -> None:
        validate(self)


@dataclass(frozen=True)
class Sizes:
    """Numbers that a task is learned with: those of its settings, or its usual ones.

    width: of the vectors, d_model; rate: the largest learning rate; scaled, masked, ordered: False
    where a handicap takes the scale, the causal mask or the positions away.
    """

    layers: int
    heads: int
    width: int
    steps: int
    rate: float
    scaled: bool = True
    masked: bool = True
    ordered: bool = True


def sizes(settings: TrainingSettings, usual: Sizes, offered: Collection[str] = SIZES) -> Sizes:
    """Sizes of a training. usual: those of its task; offered: names of those that may differ."""

    def chosen(name: str, instead: float) -> str:
        text: str = getattr(settings, f"learn_{name}")
        return text if name in offered and text != USUAL else str(instead)

    taken = settings.handicap
    width = 256 if taken == "no scale" else int(chosen("width", usual.width))
    return Sizes(
        layers=1 if taken == "one layer" else int(chosen("layers", usual.layers)),
        heads=1 if taken == "no scale" else int(chosen("heads", usual.heads)),
        width=width,
        steps=int(chosen("steps", usual.steps)),
        rate=float(chosen("rate", usual.rate)),
        scaled=taken != "no scale",
        masked=taken != "no mask",
        ordered=taken != "no positions",
    )


def freed(usual: Sizes, steps: int | None, rate: float | None) -> Sizes:
    """Sizes with any number of steps and any rate, None = as they are.

    Raises ValueError where one is not above 0.
    """
    steps = usual.steps if steps is None else steps
    rate = usual.rate if rate is None else rate
    must_be("steps", steps, int)
    must_be("rate", rate, float)
    if steps < 1 or not 0 < rate < math.inf:
        raise ValueError(f"steps and rate must be above 0, got {steps} and {rate}")
    return replace(usual, steps=steps, rate=rate)
