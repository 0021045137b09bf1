"""Words for what is shown: what masks hide, what rows sum to, and what tokens are called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from attention.core.analysis import sums_to_one
from attention.core.printing import listed
from attention.core.weighing import Weighing
from attention.figures.tables import number

MASK_NAMES = {
    "causal": "the causal mask",
    "length": "the valid length",
    "window": "the window",
    "cells": "the cell mask",
}
EMPTY_ROW = (
    "So its weights and its output are 0. A plain softmax over −∞ alone would make each weight "
    "“not a number”, and all that follows with it."
)
PARAMETERS = {"seeded": "random", "identity": "ones and zeros"}


def cell_words(masks: Mapping[str, Tensor], query: int, key: int) -> str:
    """By what a cell is hidden: "hidden by the causal mask"; empty where it is not."""
    names = [MASK_NAMES[name] for name, mask in masks.items() if not mask[query, key]]
    return f"hidden by {listed(names)}" if names else ""


def sums_words(weights: Tensor, shares: bool = True) -> str:
    """Sums of the rows of weights (queries, keys) in words, as the end of a sentence.

    shares: whether a row of 0 is one that may look at nothing.
    """
    whole, empty = sums_to_one(weights), (weights == 0).all(-1)
    if whole.all():
        return "each row adds up to 1"
    if empty.all() and not shares:
        return "each row is 0 throughout"
    if empty.all():
        return "each row is 0 throughout, since no query may look at anything"
    if (whole | empty).all():
        return "each row adds up to 1, or is 0 throughout where a query may look at nothing"
    sums = weights.double().sum(-1)
    least, most = number(float(sums.min())), number(float(sums.max()))
    if least == most:
        return f"each row adds up to {least}"
    return f"the sums of the rows go from {least} to {most}"


def unshared_words(weights: Tensor, weighing: Weighing) -> str:
    """Explain weights (queries, keys) that are no shares of 1, and their sums, in sentences."""
    begins = f"{weighing.sentence} These" if weighing.name else "No softmax: these"
    negative = int((weights < 0).sum())
    here = " here" if weighing.signed else ""
    cells = f"{negative} of them {'is' if negative == 1 else 'are'} below 0: such a weight takes "
    return (
        f"{begins} weights are no shares. "
        + (f"{cells}the value away. " if negative else f"None is below 0{here}. ")
        + f"Here {sums_words(weights, shares=False)}."
    )


def parameters_words(origin: str) -> str:
    """Describe parameters that nothing was learned by; "" where they were, or there are none.

    origin: as `Variant` has it.
    """
    if origin not in PARAMETERS:
        return ""
    return f"Its parameters are {PARAMETERS[origin]} here and have learned nothing."


def mask_bits(masks: Mapping[str, Tensor], shape: Sequence[int]) -> Tensor:
    """For each cell of (queries, keys) which masks hide it: bit k is set by the k-th. uint8."""
    bits = torch.zeros(tuple(shape), dtype=torch.uint8)
    for position, mask in enumerate(masks.values()):
        bits |= (~mask).to(torch.uint8) << position
    return bits
