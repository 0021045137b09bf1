"""One setting of a trace over its range."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from torch import Tensor

from attention.core.functional import Trace, masked_softmax
from attention.core.masks import combine, window

SWEEPS = ("scale", "temperature", "window")


MIN_TEMPERATURE, MAX_TEMPERATURE, MAX_SCALE = 0.05, 20.0, 10.0


MAX_DOTS = 64


MAX_MULTIPLES = 6


@dataclass(frozen=True, eq=False)
class Sweep:
    """One setting over its range, with what the slider needs to work it out by itself.

    values: where the slider can stop; at: where it is; base: (queries, keys), the numbers the
    swept setting acts on; bias: added after a scale, or None; mask: what every value hides, or
    None; shown: the values of the small multiples; block: how many cells a dot of theirs spans, the
    greatest is shown.
    """

    kind: str
    values: tuple[float, ...]
    at: float
    base: Tensor
    bias: Tensor | None
    mask: Tensor | None
    shown: tuple[float, ...]
    block: int

    def weights(self, value: float) -> Tensor:
        """The weights at one value of the swept setting. (queries, keys), float64."""
        base, mask = self.base.double(), self.mask
        if self.kind == "scale":
            base = base * value if self.bias is None else base * value + self.bias.double()
        elif self.kind == "temperature":
            base = base / value
        else:
            near = window(base.shape[0], base.shape[1], round(value))
            mask = near if mask is None else mask & near
        return masked_softmax(base, mask)


def sweeps_of(trace: Trace) -> tuple[str, ...]:
    """The settings that can be swept: a scale only where the softmax gets the scaled scores; none
    where there is no softmax."""
    if trace.normed_by != "softmax":
        return ()
    return SWEEPS if trace.mixed_scores is None else SWEEPS[1:]


def sweep(trace: Trace, kind: str, at: float, masks: Mapping[str, Tensor]) -> Sweep:
    """A 2-D trace with one of its settings swept. Raises ValueError on a kind it does not have.

    at: the value to start from, or the nearest one in the range of the sweep;
    masks: those in force by name; a swept window takes the place of the one among them.
    """
    kinds = sweeps_of(trace)
    if kind not in kinds:
        raise ValueError(f"kind must be one of {', '.join(kinds)}, got {kind!r}")
    n = len(trace.weights)
    values = sweep_values(kind, n)
    return Sweep(
        kind=kind,
        values=values,
        at=within(kind, at, n),
        base=trace.scores if kind == "scale" else trace.logits,
        bias=trace.bias if kind == "scale" else None,
        mask=combine(mask for name, mask in masks.items() if (kind, name) != ("window", "window")),
        shown=multiples(kind, n),
        block=math.ceil(n / MAX_DOTS),
    )


def sweep_values(kind: str, n: int) -> tuple[float, ...]:
    """Where the slider of a sweep can stop; forty stops from a number to ten times it."""
    if kind == "window":
        return tuple(float(radius) for radius in range(n))
    fine = sorted({round(10 ** (step / 40), 3) for step in range(-80, 81)})
    if kind == "scale":
        return (0.0, *(value for value in fine if value <= MAX_SCALE))
    return tuple(v for v in fine if MIN_TEMPERATURE <= v <= MAX_TEMPERATURE)


def within(kind: str, value: float, n: int) -> float:
    """The value, or the nearest one in the range of the sweep; windows are whole."""
    if kind == "window":
        return float(round(min(max(value, 0.0), n - 1)))
    most = MAX_SCALE if kind == "scale" else MAX_TEMPERATURE
    return min(max(value, 0.0 if kind == "scale" else MIN_TEMPERATURE), most)


def multiples(kind: str, n: int) -> tuple[float, ...]:
    """The few values of a sweep that are shown small, all at once."""
    if kind == "scale":
        return (0.0, 0.05, 0.1, 0.2, 0.5, 1.0)
    if kind == "temperature":
        return (0.1, 0.25, 0.5, 1.0, 2.0, 5.0)
    radii = [0, *(2**power for power in range(10) if 2**power < n - 1)]
    radii += [n - 1] if n > 1 else []
    if len(radii) > MAX_MULTIPLES:
        last = MAX_MULTIPLES - 1
        radii = [radii[round(pick * (len(radii) - 1) / last)] for pick in range(MAX_MULTIPLES)]
    return tuple(map(float, radii))
