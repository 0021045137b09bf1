"""Parity: a reference module of attention, as many repositories have it, beside ours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from inspect import getsource

import torch
from torch import Tensor, nn

from attention.core.functional import Trace, attend, drop
from attention.figures.matrix import Lights, Matrix, MatrixError
from attention.figures.stacks import read_numbers
from attention.subjects.operations.answers import Made, names_of, shape_of
from attention.subjects.operations.products import row_by_column
from attention.subjects.operations.settings import PARITY, OperationSettings, typed
from attention.subjects.operations.softmaxes import empty_rows


class ScaledDotProductAttention(nn.Module):
    """`softmax(q kᵀ / temperature) v` (Vaswani et al. 2017, eq. 1)."""

    def __init__(self, temperature: float, p: float, seed: int) -> None:
        super().__init__()
        self.temperature, self.p = temperature, p
        self.generator = torch.Generator().manual_seed(seed)

    def dropout(self, attn: Tensor) -> Tensor:
        kept = torch.rand(attn.shape, generator=self.generator) >= self.p
        return attn * kept / (1 - self.p)

    def forward(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
        attn = torch.matmul(q / self.temperature, k.transpose(2, 3))
        attn = attn.masked_fill(mask == 0, -1e9)
        attn = self.dropout(torch.softmax(attn, dim=-1))
        return torch.matmul(attn, v)


def ours(inputs: list[torch.Tensor], temperature: float, p: float, seed: int) -> Trace:
    """Attention by `attend`. inputs: q, k, v and mask, each (batch, heads, rows, columns)."""
    q, k, v, mask = inputs
    trace = attend(q, k, v, scale=1 / temperature, mask=mask == 1)
    return drop(trace, p, torch.Generator().manual_seed(seed))


CODES = (
    "import torch\nfrom torch import Tensor, nn\n\n" + getsource(ScaledDotProductAttention),
    "import torch\nfrom attention.core.functional import Trace, attend, drop\n\n" + getsource(ours),
)
EVEN = "the reference, with −10⁹ for every key, weighs all alike (an even mean); ours gives 0."
LIGHTS: Sequence[Lights] = ("row", "", "column", "row")


def make_parity(settings: OperationSettings) -> Made:
    inputs = q, k, v, mask = _inputs(settings)
    p, seed = settings.dropout, settings.dropout_seed
    temperature = settings.parity_temperature or q.shape[-1] ** 0.5
    trace = ours(inputs, temperature, p, seed)
    reference = ScaledDotProductAttention(temperature, p, seed)(*inputs)[:, 0]
    output = trace.output[:, 0]
    most = float(torch.stack([reference, output]).abs().max())
    given = [typed(settings, name).every(name[7:]) for name in PARITY if getattr(settings, name)]
    pictures: list[list[Matrix | str]] = [
        [
            *(replace(stack[batch], lights=lit) for stack, lit in zip(given, LIGHTS, strict=False)),
            *("", "", "", "→")[-len(given) :],
            Matrix(f"reference{at}", reference[batch], lights="cell", most=most),
            "",
            Matrix(f"ours{at}", output[batch], most=most),
        ]
        for batch, at in enumerate(names_of("", output))
    ]
    drops = f"Dropout: from the same seed, {seed}, both drop the same weights."
    return Made(
        f"q {shape_of(q)}, k {shape_of(k)}, v {shape_of(v)} → {shape_of(trace.output)}, "
        f"temperature {temperature:.4g}",
        pictures,
        "Choose a number of ours for its sum.",
        partial(row_by_column, ("our weights", "v", "ours"), trace.applied[:, 0], v[:, 0], "key"),
        "",
        output,
        reference,
        (),
        empty_rows(mask[:, 0] == 1, EVEN) + [drops] * bool(p),
        whose="The reference’s answer",
        codes=CODES,
    )


def _inputs(settings: OperationSettings) -> list[Tensor]:
    """q, k, v and mask, 1 where none is typed: (batch, 1, rows, columns). Raises MatrixError."""
    q, k, v = (read_numbers(name[7:], getattr(settings, name)) for name in PARITY[:3])
    batch, queries, d_k, keys = *q.shape, k.shape[1]
    needed = (batch, keys, d_k), (batch, keys, v.shape[2]), (batch, queries, keys)
    text = settings.parity_mask
    mask = read_numbers("mask", text) if text else torch.ones(needed[2])
    for name, stack, shape in zip(("k", "v", "mask"), (k, v, mask), needed, strict=True):
        if tuple(stack.shape) != shape:
            with_q = f"with q {shape_of(q)} and k {shape_of(k)}"
            raise MatrixError(f"{name} must have shape {shape} {with_q}, got {shape_of(stack)}")
    if wrong := mask[(mask != 0) & (mask != 1)].tolist():
        raise MatrixError(f"mask must hold 1 (may attend) and 0 (hidden) alone, got {wrong[0]:g}")
    return [stack[:, None] for stack in (q, k, v, mask)]
