"""The operations attention is built from, each by its definition and by torch's own call.

An operation takes numbers as text (see attention.figures.matrix) and gives pictures, the working
of a chosen cell or slice, and both answers. Text that cannot be used comes back as words, never
as an error.

Doors to other pages: two_sequences.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from attention.core.settings import Value, settings_of
from attention.figures.matrix import Matrix, MatrixError
from attention.figures.stacks import TypedMatrix, typed_stack
from attention.subjects.operations.answers import Contrast, Made, Refused
from attention.subjects.operations.parity import make_parity
from attention.subjects.operations.products import make_bmm, make_transpose
from attention.subjects.operations.settings import CHANGES, PARITY, OperationSettings
from attention.subjects.operations.softmaxes import (
    make_masked_softmax,
    make_sequence_mask,
    make_softmax,
    make_temperature,
)

__all__ = [
    "OPERATIONS",
    "Contrast",
    "Made",
    "Operation",
    "OperationSettings",
    "Refused",
    "clamped",
    "given",
    "labels",
    "prepare",
    "typed_over",
]


@dataclass(frozen=True)
class Operation:
    """One operation: its LaTeX formula, what it is for, the settings it reads, and how it is made.

    examples: further numbers worth a look, by what they show; settings left out keep their default.
    """

    why: str
    formula: str
    inputs: Sequence[str]
    make: Callable[[OperationSettings], Made | Refused]
    examples: Mapping[str, Mapping[str, Value]]


LENS = ("lens_dim", "valid_lens", "valid_lens_2d")
VALUES = "; ".join(f"{row} {row + 1} {row + 2} {row + 3}" for row in range(0, 40, 4))
OPERATIONS = {
    "bmm": Operation(
        "Batched matrix multiplication: every row of A meets every column of B, and each matrix of "
        "the stack meets only its own partner. Scores QKᵀ and outputs WV are made this way.",
        r"C_{b\,i\,j} = \sum_{m} A_{b\,i\,m}\, B_{b\,m\,j}",
        ("bmm_a", "bmm_b"),
        make_bmm,
        {
            "sizes that do not meet": {"bmm_b": "1 0; 0 1; 2 -1; 5 5 | 3 1; 0 2; 1 1; 5 5"},
            "a partner missing": {"bmm_b": "1 0; 0 1; 2 -1"},
            "weights and values": {  # of Dive into Deep Learning, at the valid lengths 2 and 6
                "bmm_a": f"0.5 0.5{' 0' * 8} |{' 0.16666667' * 6}{' 0' * 4}",
                "bmm_b": " | ".join([VALUES] * 2),
            },
            "a row and a column": {"bmm_a": "1 2 3", "bmm_b": "4; 5; 6"},
            "ten matrices": {
                "bmm_a": " | ".join(f"{b} 0; 0 1" for b in range(10)),
                "bmm_b": " | ".join(["1 2; 3 4"] * 10),
            },
        },
    ),
    "transpose": Operation(
        "Transposing turns rows into columns: keys become Kᵀ, so that a query’s row can meet them. "
        "The same call brings heads in front of tokens.",
        r"\text{result}_{\ldots j \ldots i \ldots} = x_{\ldots i \ldots j \ldots}",
        ("transpose_x", "transpose_dims"),
        make_transpose,
        {"one row": {"transpose_x": "1 2 3 4"}},
    ),
    "softmax": Operation(
        "Softmax turns numbers into shares of one. Which numbers share is up to dim: "
        "attention takes the last, so that each query shares itself out over the keys.",
        r"\operatorname{softmax}(x)_i = \frac{e^{x_i}}{\sum_j e^{x_j}}",
        ("softmax_x", "softmax_dim"),
        make_softmax,
        {
            "large numbers": {"softmax_x": "1000 1001 1002; 0 500 1000 | 1000 0 0; 999 999 999"},
            "all the same": {"softmax_x": "0 0 0; 0 0 0 | 5 5 5; 5 5 5"},
        },
    ),
    "temperature": Operation(
        "A temperature divides the scores before the softmax. The lower it is, the more of the "
        "weight goes to the greatest, or to those that tie for it. The higher it is, the more "
        "alike all weights become. √d_k is such a temperature.",
        r"\begin{gathered} w_i = \frac{e^{x_i / T}}{\sum_j e^{x_j / T}} \\ "
        r"H = -\sum_i w_i \log_2 w_i \end{gathered}",
        ("temperature_x", "temperature"),
        make_temperature,
        {"two that tie": {"temperature_x": "2 2 0 -1"}, "wide apart": {"temperature_x": "8 4 0"}},
    ),
    "sequence_mask": Operation(
        "Sequences of a batch differ in length and are filled up with padding. Comparing each "
        "position with the valid length tells what is real.",
        r"\text{mask}_{j} = \begin{cases} 1 & j < \text{len} \\ 0 & \text{else}\end{cases}",
        (*LENS, "mask_keys"),
        make_sequence_mask,
        {
            "a length of 0": {"valid_lens": "0 3", "valid_lens_2d": "0 3; 2 0"},
            "beyond the keys": {"valid_lens": "2 99", "valid_lens_2d": "1 99; 2 4"},
        },
    ),
    "masked_softmax": Operation(
        "Padding must get no weight at all, so its scores become −∞: the softmax then shares one "
        "among the keys that count. A query with no key left gets zeros.",
        r"w = \operatorname{softmax}(s'),\quad s'_j = \begin{cases} s_j & j < \text{len} \\"
        r" -\infty & \text{else}\end{cases}",
        ("masked_scores", *LENS),
        make_masked_softmax,
        {
            "a length of 0": {"valid_lens": "0 3", "valid_lens_2d": "0 3; 2 0"},
            "beyond the keys": {"valid_lens": "2 99", "valid_lens_2d": "1 99; 2 4"},
        },
    ),
    "parity": Operation(
        "The module that many repositories of transformers in PyTorch share, beside ours on the "
        "same numbers: a temperature, as a rule √d_k, −10⁹ for scores of hidden keys, and dropout "
        "of weights (Vaswani et al. 2017, eq. 1).",
        r"\operatorname{dropout}(\operatorname{softmax}(q k^\top / T))\, v",
        (*PARITY, "parity_temperature", "dropout", "dropout_seed"),
        make_parity,
        {
            "no mask": {"parity_mask": ""},
            "a query that sees nothing": {"parity_mask": "1 1 1 1 0; 0 0 0 0 0; 1 1 1 1 0"},
        },
    ),
}


def prepare(settings: OperationSettings) -> Made | Refused:
    """The chosen operation, worked out; a wrong input comes back as `Refused`."""
    try:
        return OPERATIONS[settings.operation].make(settings)
    except MatrixError as error:
        return Refused([str(error)])


def given(settings: OperationSettings, made: Made | Refused) -> list[list[Matrix]]:
    """The inputs that its pictures do not show: of each, its matrices in a row.

    Nothing of one that has too many numbers to be shown.
    """
    shown = {part.stack for row in made.pictures for part in row if isinstance(part, TypedMatrix)}
    about = settings_of(settings)
    rows = []
    for name in OPERATIONS[settings.operation].inputs:
        applies = about[name].applies(partial(getattr, settings))
        stack = typed_stack(name, getattr(settings, name)) if name in CHANGES else None
        taken = getattr(settings, name) != "" or isinstance(made, Refused)  # no mask is none
        if applies and name not in shown and stack is not None and taken:
            rows.append(stack.every(about[name].label))
    return rows


def labels() -> dict[str, str]:
    """Names of the inputs where their numbers are seen."""
    return {name: about.label for name, about in settings_of(OperationSettings).items()}


def typed_over(settings: OperationSettings, name: str, text: str) -> str:
    """Why numbers typed in place of others are not taken: they are none that fit; else ""."""
    now = prepare(settings)
    changed: dict[str, Any] = {name: text}
    then = prepare(replace(settings, **changed))
    return then.words[0] if isinstance(now, Made) and isinstance(then, Refused) else ""


def clamped(made: Made, settings: OperationSettings) -> tuple[int, int, int]:
    """Clamp the choice to the nearest there is: operations differ in size."""
    chosen = (settings.operation_batch, settings.operation_row, settings.operation_column)
    batch, row, column = (min(at, n - 1) for at, n in zip(chosen, made.sizes, strict=True))
    return batch, row, column
