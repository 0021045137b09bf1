"""Attention over matrices of one's own, small enough to follow with a pencil."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from attention.core.functional import Trace
from attention.core.scales import Scale
from attention.core.settings import Config, text
from attention.core.variants import QueryKeyValue
from attention.figures.matrix import MAX_CELLS, MatrixError, read_stack, write_matrix
from attention.figures.stacks import MAX_MATRICES

MAX_TOKENS = math.isqrt(MAX_CELLS)  # so that the mask can be edited too
MAX_TEXT = 9000  # room for MAX_CELLS cells as long as `one_cell` allows
HELP = "Rows apart by semicolons, numbers by spaces: 1 0 1; 0 2 0."
OF_X = f"{HELP} Several matrices of one shape, apart by |, are a batch: each attends within itself."
STACKS = ("own_x", "own_mask")  # each may be several matrices
OF_LAYER = ("own_W_q", "own_W_k", "own_W_v")


@dataclass(frozen=True)
class OwnMatrixSettings:
    """The matrices, as text. The example is Karim's “Illustrated: Self-Attention” (2019)."""

    own_x: str = text("1 0 1 0; 0 2 0 2; 1 1 1 1", "X", MAX_TEXT, help=OF_X)
    own_W_q: str = text("1 0 1; 1 0 0; 0 0 1; 0 1 1", "W_q", MAX_TEXT, help=HELP)
    own_W_k: str = text("0 0 1; 1 1 0; 0 1 0; 1 1 0", "W_k", MAX_TEXT, help=HELP)
    own_W_v: str = text("0 2 0; 0 3 0; 1 0 3; 1 1 0", "W_v", MAX_TEXT, help=HELP)
    own_mask: str = text(
        "1 1 1; 1 1 1; 1 1 1",
        "Mask",
        MAX_TEXT,
        help="One row per query, one number per key: 0 hides the key from the query. One for all "
        "matrices of X, or one for each.",
    )


# Matrices to start from, by title; each W that is not named is the identity, each mask all ones.
PRESETS = {
    "Identity for each W": {},
    "PyTorch notebook’s input": {
        "own_x": "0.2688 0.3804 -1.7762 0.8495; -0.1935 -0.3447 -0.3844 0.7467; "
        "1.3795 -0.3551 0.0151 -1.9090 | -0.3196 1.8688 -0.8605 0.5735; "
        "-0.2754 -0.9110 -0.9624 -1.8642; 1.0176 -2.2407 -0.6599 1.0171"
    },
}


def preset(title: str, x: str) -> dict[str, str]:
    """Matrices of a preset as text, by setting; x: the present X. Raises MatrixError for one that
    cannot be read."""
    found = {"own_x": x} | PRESETS[title]
    _, tokens, d_model = read_stack(found["own_x"]).shape
    identity, ones = write_matrix(torch.eye(d_model)), write_matrix(torch.ones(tokens, tokens))
    return dict.fromkeys(OF_LAYER, identity) | {"own_mask": ones} | found


class OwnParameters(QueryKeyValue):
    """Query, key and value attention with given matrices W_q, W_k (d_model, d_k), W_v."""

    title = "Query, key and value, own matrices"
    origin = "typed"

    def __init__(self, W_q: Tensor, W_k: Tensor, W_v: Tensor) -> None:
        nn.Module.__init__(self)
        self.config: Any = Config(d_model=W_q.shape[0])
        self.W_q, self.W_k, self.W_v = (nn.Parameter(W) for W in (W_q, W_k, W_v))


@dataclass(frozen=True, eq=False)
class OwnMatrices:
    """The matrices that the texts describe.

    x: (batch, tokens, d_model); layer: with the given parameters; mask: (1 or batch, tokens,
    tokens) bool; names: what the rows are called.
    """

    x: Tensor
    layer: OwnParameters
    mask: Tensor
    names: tuple[str, ...]


def read_own_matrices(settings: OwnMatrixSettings) -> OwnMatrices | dict[str, str]:
    """The matrices that the texts write, or what is wrong with them by the setting's name."""
    texts = vars(settings)
    read: dict[str, Tensor] = {}
    wrong: dict[str, str] = {}
    for name, written in texts.items():
        try:
            read[name] = _read(written, MAX_MATRICES if name in STACKS else 1)
        except MatrixError as error:
            wrong[name] = str(error)
    if wrong:
        return wrong
    x, mask = (read[name] for name in STACKS)
    W_q, W_k, W_v = (read[name][0] for name in OF_LAYER)
    batch, tokens, d_model = x.shape
    for name, W in zip(OF_LAYER, (W_q, W_k, W_v), strict=True):
        if W.shape[0] != d_model:
            wrong[name] = f"X has {d_model} columns, so this needs {d_model} rows, got {W.shape[0]}"
    if W_q.shape[1] != W_k.shape[1]:
        wrong.setdefault(
            "own_W_k", f"W_q has {W_q.shape[1]} columns, so W_k must too, got {W_k.shape[1]}"
        )
    if tokens > MAX_TOKENS:
        wrong["own_x"] = f"X may have at most {MAX_TOKENS} rows, got {tokens}"
    elif len(mask) not in (1, batch):
        wrong["own_mask"] = f"X has {batch} matrices, so the mask has 1 or {batch}, got {len(mask)}"
    elif tuple(mask.shape[1:]) != (tokens, tokens):
        wrong["own_mask"] = (
            f"X has {tokens} rows, so the mask is {tokens} × {tokens}, "
            f"got {mask.shape[1]} × {mask.shape[2]}"
        )
    elif not torch.isin(mask, torch.tensor([0.0, 1.0])).all():
        wrong["own_mask"] = "the mask holds 1 where a query may attend and 0 where it may not"
    if wrong:
        return wrong
    names = tuple(f"x{row}" for row in range(tokens))
    return OwnMatrices(x, OwnParameters(W_q, W_k, W_v), mask.bool(), names)


def _read(text: str, most: int) -> Tensor:
    """The stack of at most so many matrices that a text writes. Raises MatrixError."""
    stack = read_stack(text)
    if len(stack) > most or stack.numel() > MAX_CELLS:
        what = "one matrix" if most == 1 else f"at most {most}, of {MAX_CELLS} numbers in all"
        raise MatrixError(f"this is {what}, got {len(stack)} of {stack.numel()}")
    return stack


def attend_over(own: OwnMatrices, x: Tensor, item: int, scale: Scale | None) -> Trace:
    """The layer's run over an x (tokens, d_model) under the mask of an item of the batch.

    scale: None = 1/√d_k.
    """
    with torch.no_grad():
        trace: Trace = own.layer(x, own.mask[min(item, len(own.mask) - 1)], scale=scale)
    return trace


def resized_mask(mask: str, x: str) -> str:
    """The mask's text at the size x asks for, one for all of it or one for each, new cells 1.

    Unchanged if either cannot be read, or x has too many rows for any mask.
    """
    try:
        (batch, tokens, _), old = read_stack(x).shape, read_stack(mask)
    except MatrixError:
        return mask
    if tokens > MAX_TOKENS:
        return mask
    kept = old[:batch, :tokens, :tokens]
    new = torch.ones(1 if len(old) == 1 else batch, tokens, tokens)
    new[: kept.shape[0], : kept.shape[1], : kept.shape[2]] = kept
    return " | ".join(map(write_matrix, new))
