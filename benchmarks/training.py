"""A training step of our layers against the same with torch's own, time and memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor, nn

from attention.core import masks
from attention.core.variants import MultiHead
from attention.training.networks import attended, seeded
from benchmarks.core import peak_bytes, steady, times
from benchmarks.report import TARGETS, Row, at_most, table

WIDTH, HEADS = 64, 4
SHAPES = ((64, 32), (16, 128))  # sequences and tokens of a step
OVER_TORCH = 1.2


def step_of(
    network: nn.Module, attend: Callable[[Tensor], Tensor], x: Tensor
) -> Callable[[], None]:
    """A step of training: forward, backward, and an optimiser that changes the parameters."""
    optimiser = torch.optim.AdamW(network.parameters(), 1e-4)

    def step() -> None:
        optimiser.zero_grad(set_to_none=True)
        attend(x).square().mean().backward()
        optimiser.step()

    return step


def rows(turns: int) -> list[Row]:
    """Our multi-head attention over `nn.MultiheadAttention`, both with the weights of all heads."""
    found: list[Row] = []
    for sequences, tokens in SHAPES:
        x = torch.randn(sequences, tokens, WIDTH)
        mask = masks.causal(tokens, tokens)
        ours = seeded(WIDTH, HEADS, 0)
        theirs = nn.MultiheadAttention(WIDTH, HEADS, bias=False, batch_first=True)

        def attend(x: Tensor, mask: Tensor = mask, ours: MultiHead = ours) -> Tensor:
            output: Tensor = ours.output(attended(ours, x, mask, None))
            return output

        def torchs(x: Tensor, mask: Tensor = mask, theirs: nn.Module = theirs) -> Tensor:
            output: Tensor = theirs(x, x, x, attn_mask=~mask, average_attn_weights=False)[0]
            return output

        steps = step_of(ours, attend, x), step_of(theirs, torchs, x)
        mine, other = times(steps, 2, turns)
        of = f"{sequences} × {tokens} tokens"
        found.append(at_most(f"time of a step, {of}", mine / other, OVER_TORCH, "x"))
        mine, other = (peak_bytes(step) for step in steps)
        found.append(at_most(f"peak memory of a step, {of}", mine / other, OVER_TORCH, "x"))
    return found


def run(quick: bool, progress: Callable[[str], None]) -> Iterator[str]:
    """Measure everything; yields the table."""
    steady()
    torch.manual_seed(0)
    progress("training steps")
    yield table("Training over nn.MultiheadAttention", TARGETS, rows(10 if quick else 50))
