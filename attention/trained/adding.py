"""Parts of which a residual path is the sum, found by running a block: W_o, and the last norm.

Where a block adds `concat(heads) W_o + b_o` to what enters it, and to that sum the output of one
module more, its path is a sum of known parts, whatever else its layout is. Both are looked for
among its modules as they run, and are taken where the numbers agree.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from attention.core.functional import linear, merge_heads
from attention.core.norms import RmsNorm
from attention.trained.network import Network, heads_of
from attention.trained.parts import LayerNorm, Norm

NEAR = 1e-4  # relative distance of numbers that are the same but for rounding
LARGE = 1e3  # a vector of such numbers, beside which no eps counts


class Ran(NamedTuple):
    """A module that ran: what went in first, and what came out first."""

    module: nn.Module
    entered: Tensor
    made: Tensor


class Projection(NamedTuple):
    """W_o (heads · d_v, d_model), and b_o (d_model,) where there is one."""

    W: Tensor
    b: Tensor | None


def distance(made: Tensor, expected: Tensor) -> float:
    """Distance of two tensors of one shape, relative to the second one."""
    return float((made - expected).norm() / expected.norm().clamp_min(1e-30))


def is_near(made: Tensor, expected: Tensor) -> bool:
    """True where two tensors have as many numbers, the same but for rounding."""
    if made.numel() != expected.numel():
        return False
    return distance(made.reshape(-1), expected.reshape(-1)) < NEAR


@contextmanager
def watched(outer: nn.Module) -> Iterator[list[Ran]]:
    """The modules within one that run while it lasts, that one last."""
    ran: list[Ran] = []

    def note(module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], made: Any) -> None:
        given = [*args, *kwargs.values()]
        out = made[0] if isinstance(made, tuple) and made else made
        if given and isinstance(given[0], Tensor) and isinstance(out, Tensor):
            ran.append(Ran(module, given[0], out))

    handles = [
        module.register_forward_hook(note, with_kwargs=True)
        for module in outer.modules()
        if not isinstance(module, nn.Dropout)
    ]
    try:
        yield ran
    finally:
        for handle in handles:
            handle.remove()


def added_by_attention(network: Network, layer: int, x: Tensor) -> Projection | None:
    """W_o of a layer over x (1, tokens, d_model), None where its path is no such sum."""
    block = network.blocks[network.attending[layer]]
    heads: list[Tensor] = []

    def takes(name: str, call: Any, function: Any) -> Any:
        made = function()
        heads.append(heads_of(made, function))
        return made

    with watched(block) as ran:
        network.run(layer, x, None, takes)
    merged, (_, x, made) = merge_heads(heads[0]), ran[-1]
    for one in ran[:-1]:
        projection = _projection(one, merged)
        if projection is not None:
            rest = made - x - linear(merged, *projection)
            return projection if any(is_near(each.made, rest) for each in ran[:-1]) else None
    return None


def _projection(ran: Ran, merged: Tensor) -> Projection | None:
    """The matrix of a module that got all heads side by side, None where it is none."""
    weight, bias = (getattr(ran.module, name, None) for name in ("weight", "bias"))
    if not isinstance(weight, Tensor) or weight.dim() != 2 or not is_near(ran.entered, merged):
        return None
    for W in (weight.T, weight):
        if W.shape == (merged.shape[-1], ran.made.shape[-1]):
            found = Projection(W, bias)
            if is_near(linear(merged, *found), ran.made):
                return found
    return None


def last_norm(network: Network, x: Tensor) -> Norm | None:
    """The norm between the last block's output x (tokens, d_model) and the model's, None where it
    is none that can be taken apart."""
    with watched(network.base) as ran:
        made = network.final(x)
    for one in ran:
        if one.module is not network.base and is_near(one.entered, x) and is_near(one.made, made):
            norm = _norm(one.module, x.shape[-1])
            small = x / x.norm(dim=-1, keepdim=True)
            same = all(is_near(norm(each), network.final(each)) for each in (x, small))
            return norm if same else None
    return None


def _norm(module: nn.Module, d_model: int) -> Norm:
    """The norm that a module would be."""
    if isinstance(module, nn.LayerNorm):
        weight = torch.ones(d_model) if module.weight is None else module.weight
        return LayerNorm(weight, module.bias, module.eps)
    eps = getattr(module, "variance_epsilon", getattr(module, "eps", 0.0))
    return RmsNorm(module(torch.full((1, 1, d_model), LARGE))[0, 0], float(eps))
