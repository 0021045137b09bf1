"""Inputs of the operations: settings as text, read into tensors, typed into matrices."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from attention.core.settings import choice, decimal, same_as, text, whole
from attention.figures.matrix import MatrixError
from attention.figures.stacks import (
    HELP,
    MAX_NUMBERS,
    MAX_TEXT,
    STACK,
    TypedStack,
    read_numbers,
    read_row,
    typed_stack,
)
from attention.subjects.two_sequences.words import CrossSettings

PARITY = ("parity_q", "parity_k", "parity_v", "parity_mask")
OF_PARITY = ("operation", "parity")


@dataclass(frozen=True)
class OperationSettings:
    """Settings of the page "Operations"; the last three say which cell is explained."""

    operation: str = choice(
        "bmm",
        "Operation",
        ("bmm", "transpose", "softmax", "temperature", "sequence_mask", "masked_softmax", "parity"),
        names={
            "bmm": "bmm; batched matrix multiplication, matmul",
            "transpose": "transpose; k.T",
            "softmax": "softmax; along a dim",
            "temperature": "Temperature of a softmax",
            "sequence_mask": "SequenceMask; valid lengths",
            "masked_softmax": "Masked softmax; padding",
            "parity": "Parity with a reference module; ScaledDotProductAttention, temperature, "
            "dropout",
        },
    )
    bmm_a: str = text(
        "1 2 3; 4 5 6 | 1 0 -1; 2 2 0", "A", MAX_TEXT, when=("operation", "bmm"), help=HELP
    )
    bmm_b: str = text(
        "1 0; 0 1; 2 -1 | 3 1; 0 2; 1 1", "B", MAX_TEXT, when=("operation", "bmm"), help=HELP
    )
    transpose_x: str = text(
        "1 2 3; 4 5 6 | 7 8 9; 10 11 12", "x", MAX_TEXT, when=("operation", "transpose"), help=HELP
    )
    transpose_dims: str = choice(
        "1-2",
        "Dimensions that change places",
        ("1-2", "0-1", "0-2"),
        when=("operation", "transpose"),
    )
    softmax_x: str = text(
        "1 2 3; 3 2 1 | 0 0 4; 1 1 1", "x", MAX_TEXT, when=("operation", "softmax"), help=HELP
    )
    softmax_dim: str = choice(
        "2",
        "Along dim",
        ("0", "1", "2"),
        when=("operation", "softmax"),
        help="The index that runs over the numbers which share one sum.",
    )
    temperature_x: str = text(
        "2 1 0 -1",
        "x",
        MAX_TEXT,
        when=("operation", "temperature"),
        help="One row of numbers, with spaces between: 2 1 0 -1.",
    )
    temperature: float = decimal(
        0.5, "Temperature T", 0.05, 10.0, 0.05, when=("operation", "temperature")
    )
    mask_keys: int = whole(4, "Keys", 1, 16, when=("operation", "sequence_mask"))
    masked_scores: str = text(
        "0 1 2 3; 3 2 1 0 | 1 1 1 1; 0 0 0 10",
        "scores",
        MAX_TEXT,
        when=("operation", "masked_softmax"),
        help=HELP,
    )
    lens_dim: str = choice(
        "1-D",
        "Valid lengths",
        ("1-D", "2-D"),
        help="1-D: a length for each sequence. 2-D: a length for each query of each sequence.",
    )
    valid_lens: str = text(
        "2 3",
        "valid_lens",
        MAX_TEXT,
        when=("lens_dim", "1-D"),
        help="One row, a whole number for each sequence of the batch: 2 3.",
    )
    valid_lens_2d: str = text(
        "1 3; 2 4",
        "valid_lens",
        MAX_TEXT,
        when=("lens_dim", "2-D"),
        help="A row for each sequence, a whole number for each of its queries: 1 3; 2 4.",
    )
    parity_q: str = text("1 0; 0 1; 1 1", "q", MAX_TEXT, when=OF_PARITY, help=HELP)
    parity_k: str = text("2 0; 0 2; 1 1; -1 0; 3 3", "k", MAX_TEXT, when=OF_PARITY, help=HELP)
    parity_v: str = text("1 0; 0 1; 1 1; 2 0; 5 5", "v", MAX_TEXT, when=OF_PARITY, help=HELP)
    parity_mask: str = text(
        "1 1 1 1 0; 1 1 1 1 0; 1 1 1 1 0",
        "mask",
        MAX_TEXT,
        when=OF_PARITY,
        help="A row for each query: 1 for each key it may attend to, 0 for others. Empty: no mask.",
    )
    parity_temperature: float = decimal(
        0.0, "Temperature, 0 = √d_k", 0.0, 10.0, 0.05, exact=True, when=OF_PARITY
    )
    dropout: float = same_as(CrossSettings, "dropout")
    dropout_seed: int = same_as(CrossSettings, "dropout_seed")
    operation_batch: int = whole(0, "Matrix", 0, MAX_NUMBERS - 1)
    operation_row: int = whole(1, "Row", 0, MAX_NUMBERS - 1)
    operation_column: int = whole(0, "Column", 0, MAX_NUMBERS - 1)


# Reading


def read_lens(settings: OperationSettings) -> Tensor:
    """The valid lengths, (batch,) or (batch, queries), whole numbers. Raises MatrixError."""
    if settings.lens_dim == "1-D":
        lens = read_row("valid_lens", settings.valid_lens)
    else:
        stack = read_numbers("valid_lens", settings.valid_lens_2d)
        if len(stack) != 1:
            raise MatrixError("valid_lens is one matrix, a row for each sequence: leave out the |")
        lens = stack[0]
    if bool((lens != lens.round()).any() or (lens < 0).any()):
        wrong = next(x for x in lens.flatten().tolist() if x != round(x) or x < 0)
        raise MatrixError(f"a valid length is a whole number from 0 up, got {wrong:g}")
    return lens.long()


# Typing: a stack is text in the link, and matrices on the page


def typed(settings: OperationSettings, name: str) -> TypedStack:
    """The cells of an input that could be read."""
    stack = typed_stack(name, getattr(settings, name))
    assert stack is not None  # reading would have refused it
    return stack


def typed_lens(settings: OperationSettings) -> tuple[TypedStack, Tensor]:
    """The cells of the valid lengths, and their places: as many as `read_lens` gives lengths."""
    one = settings.lens_dim == "1-D"
    stack = typed(settings, "valid_lens" if one else "valid_lens_2d")
    return stack, stack.places[0, 0] if one else stack.places[0]


CHANGES = {
    "bmm_a": STACK,
    "bmm_b": STACK,
    "transpose_x": STACK,
    "softmax_x": STACK,
    "temperature_x": STACK[2:4],
    "masked_scores": STACK,
    "valid_lens": STACK[2:4],
    "valid_lens_2d": STACK[:4],
    **dict.fromkeys(PARITY, STACK),
}
