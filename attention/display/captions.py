"""Words for what is shown: what masks hide, and what tokens are called."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import torch
from torch import Tensor

from attention.core.masks import combine

MASK_NAMES = {
    "causal": "the causal mask",
    "length": "the valid length",
    "window": "the window",
    "cells": "the cell mask",
}
EMPTY_ROW = (
    "So its weights and its output are 0; a plain softmax over −∞ alone would make each weight "
    "“not a number”, and that spreads through all that follows."
)


def joined(words: Iterable[str]) -> str:
    """Words as a list in a sentence: "a, b and c"."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def cell_words(masks: Mapping[str, Tensor], query: int, key: int) -> str:
    """By what a cell is hidden: "hidden by the causal mask"; empty where it is not."""
    names = [MASK_NAMES[name] for name, mask in masks.items() if not mask[query, key]]
    return f"hidden by {joined(names)}" if names else ""


def row_words(masks: Mapping[str, Tensor], query: int, tokens: Sequence[str]) -> str:
    """How much of a row each mask hides, and what that means where nothing is left.

    masks: by name, (queries, keys) each; tokens: of the queries. Empty without masks.
    """
    allowed = combine(masks.values())
    if allowed is None:
        return ""
    n_keys = allowed.shape[1]
    left = int(allowed[query].sum())
    counts = {name: n_keys - int(mask[query].sum()) for name, mask in masks.items()}
    hides = joined(f"{MASK_NAMES[name]} hides {count or 'none'}" for name, count in counts.items())
    if left:
        return f"“{tokens[query]}” may attend to {left} of {n_keys} keys: {hides}."
    return f"“{tokens[query]}” may attend to nothing: of {n_keys} keys {hides}. {EMPTY_ROW}"


def mask_bits(masks: Mapping[str, Tensor], shape: Sequence[int]) -> Tensor:
    """For each cell of (queries, keys) which masks hide it: bit k is set by the k-th. uint8."""
    bits = torch.zeros(tuple(shape), dtype=torch.uint8)
    for position, mask in enumerate(masks.values()):
        bits |= (~mask).to(torch.uint8) << position
    return bits


def distinct_names(tokens: Sequence[str]) -> list[str]:
    """The tokens, with their position where a word comes more than once."""
    times = Counter(tokens)
    return [
        token if times[token] == 1 else f"{token} ({position})"
        for position, token in enumerate(tokens)
    ]
