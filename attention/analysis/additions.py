"""The parts that add up to a token's output: what each head adds, a bias, the residual path."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from attention.core.functional import LongTrace, Trace
from attention.core.variants import Variant


@dataclass(frozen=True, eq=False)
class Additions:
    """Parts (parts, d_out) by their names, and output (d_out,), their sum, called `name`."""

    name: str
    names: list[str]
    parts: Tensor
    output: Tensor

    @property
    def lengths(self) -> Tensor:
        """The length of each part. (parts,)."""
        lengths: Tensor = self.parts.norm(dim=-1)
        return lengths

    @property
    def along(self) -> Tensor:
        """Projection of each part on the output; these sum to its length. (parts,)."""
        length = self.output.norm()
        along: Tensor = self.parts @ self.output / length.where(length > 0, 1.0)
        return along

    @property
    def most(self) -> float:
        """The size up to which 99 of 100 numbers stay: what the last colour stands for.

        A trained model keeps a few dimensions far greater than all others, which would leave these
        without any colour.
        """
        return float(self.parts.abs().flatten().double().quantile(0.99)) or 1.0


def additions(layer: Variant, trace: Trace | LongTrace, query: int) -> Additions:
    """Additions of the heads to the output of one query; trace: of all heads."""
    one = trace.query(query)
    with torch.no_grad():
        parts, output = layer.head_outputs(one)[:, 0], layer.output(one)[0]
        names = [f"head {head}" for head in range(layer.heads)]
        _, bias = layer.projection("output")
        if bias is not None:
            parts, names = torch.cat([parts, bias[None]]), [*names, "bias"]
    return Additions("y", names, parts, output)
