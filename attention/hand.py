"""Attention by hand: every matrix given as numbers, small enough to follow with a pencil."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from attention.matrix import MOST_CELLS, Misprint, read_matrix, write_matrix
from attention.params import Config, setting
from attention.variants import QueryKeyValue

MOST_TOKENS = math.isqrt(MOST_CELLS)  # so that the mask can be edited too
MOST_TEXT = 9000  # room for MOST_CELLS cells as long as `number_grid` lets them get
HELP = "Rows apart by semicolons, numbers by spaces: 1 0 1; 0 2 0."


@dataclass(frozen=True)
class HandSettings:
    """The matrices, as text. The example is Karim's “Illustrated: Self-Attention” (2019)."""

    hand_x: str = setting("1 0 1 0; 0 2 0 2; 1 1 1 1", "X", maximum=MOST_TEXT, help=HELP)
    hand_q: str = setting("1 0 1; 1 0 0; 0 0 1; 0 1 1", "W_q", maximum=MOST_TEXT, help=HELP)
    hand_k: str = setting("0 0 1; 1 1 0; 0 1 0; 1 1 0", "W_k", maximum=MOST_TEXT, help=HELP)
    hand_v: str = setting("0 2 0; 0 3 0; 1 0 3; 1 1 0", "W_v", maximum=MOST_TEXT, help=HELP)
    hand_mask: str = setting(
        "1 1 1; 1 1 1; 1 1 1",
        "Mask",
        maximum=MOST_TEXT,
        help="A row a query, a number a key: 0 hides the key from the query.",
    )


class ByHand(QueryKeyValue):
    """Query, key and value attention with given matrices W_q, W_k (d_model, d_k), W_v."""

    title = "Query, key and value, by hand"

    def __init__(self, W_q: Tensor, W_k: Tensor, W_v: Tensor) -> None:
        nn.Module.__init__(self)
        self.config: Any = Config(d_model=W_q.shape[0])
        self.W_q, self.W_k, self.W_v = (nn.Parameter(W) for W in (W_q, W_k, W_v))


@dataclass(frozen=True, eq=False)
class Hand:
    """What the texts come to. mask: (tokens, tokens) bool; names: what the rows are called."""

    x: Tensor
    variant: ByHand
    mask: Tensor
    names: tuple[str, ...]


def read_hand(settings: HandSettings) -> Hand | dict[str, str]:
    """The matrices that the texts write, or what is wrong with them by the setting's name."""
    texts = vars(settings)
    read: dict[str, Tensor] = {}
    wrong: dict[str, str] = {}
    for name, text in texts.items():
        try:
            read[name] = read_matrix(text)
        except Misprint as error:
            wrong[name] = str(error)
    if wrong:
        return wrong
    x, W_q, W_k, W_v, mask = read.values()
    tokens, d_model = x.shape
    for name, W in (("hand_q", W_q), ("hand_k", W_k), ("hand_v", W_v)):
        if W.shape[0] != d_model:
            wrong[name] = f"X has {d_model} columns, so this needs {d_model} rows, got {W.shape[0]}"
    if W_q.shape[1] != W_k.shape[1]:
        wrong.setdefault(
            "hand_k", f"W_q has {W_q.shape[1]} columns, so W_k must too, got {W_k.shape[1]}"
        )
    if tokens > MOST_TOKENS:
        wrong["hand_x"] = f"X may have at most {MOST_TOKENS} rows, got {tokens}"
    elif tuple(mask.shape) != (tokens, tokens):
        wrong["hand_mask"] = (
            f"X has {tokens} rows, so the mask is {tokens} × {tokens}, "
            f"got {mask.shape[0]} × {mask.shape[1]}"
        )
    elif not torch.isin(mask, torch.tensor([0.0, 1.0])).all():
        wrong["hand_mask"] = "the mask holds 1 where a query may attend and 0 where it may not"
    if wrong:
        return wrong
    names = tuple(f"x{row + 1}" for row in range(tokens))
    return Hand(x, ByHand(W_q, W_k, W_v), mask.bool(), names)


def resized_mask(mask: str, x: str) -> str:
    """The mask's text at the size x asks for, new cells 1.

    As it is if either is misprinted, or x has too many rows for any mask.
    """
    try:
        tokens, old = read_matrix(x).shape[0], read_matrix(mask)
    except Misprint:
        return mask
    if tokens > MOST_TOKENS:
        return mask
    new = torch.ones(tokens, tokens)
    kept = old[:tokens, :tokens]
    new[: kept.shape[0], : kept.shape[1]] = kept
    return write_matrix(new)
