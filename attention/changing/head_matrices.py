"""Matrices of each head, of any model whose projections are known here or have usual names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from attention.capture.handing import PROJECTIONS
from attention.core.functional import share_heads
from attention.trained.hooked import HookedLayer
from attention.trained.layers import Layer
from attention.trained.models import Model

ROLES = ("queries", "keys", "values")
APART = (
    *(("q_proj", "k_proj", "v_proj"), ("query", "key", "value"), ("q_lin", "k_lin", "v_lin")),
    ("q", "k", "v"),
)
# Projections in one, by class: others of these names have other layouts.
TOGETHER = {"GPT2Attention": "c_attn", "Phi3Attention": "qkv_proj"}  # queries, then keys, values
BY_HEAD = {"GPTNeoXAttention": "query_key_value", "BloomAttention": "query_key_value"}  # a head's
# Widths of one head, as modules have them.
WIDTHS = ("head_dim", "head_size", "attention_head_size", "key_value_proj_dim")
NORMS = re.compile(r"(q|k|query|key)_?(layer|rms)?_?norm")

Matrices = Mapping[
    str, Tensor
]  # by role, (heads, d_model, width), float64, the output's transposed


@torch.no_grad()
def matrices_of_heads(model: nn.Module | Model) -> list[Matrices]:
    """W_Q, W_K, W_V and W_Oᵀ of each head by layer, "queries" to "output"; one is left out where it
    is not known. (heads, d_model, width), float64.

    Of modules of PyTorch they are found by the usual names of their projections, layer by layer as
    modules are listed, with adapters as they act. Norms before and biases are left out; queries and
    keys have the gain of the norm of each head, where they go through one that divides by the root
    of the mean of the squares alone.
    """
    if not isinstance(model, Model):
        return [*_of_modules(model)]
    return [_of_layer(layer) for layer in model.layers]


def _of_layer(layer: Layer) -> Matrices:
    if isinstance(layer, HookedLayer):
        blocks = nn.ModuleList(layer.network.blocks[at] for at in layer.network.parts[layer.at])
        return next(_of_modules(blocks), {})
    attention = layer.attention
    whole = {
        role: W for role in (*ROLES, "output") if (W := attention.projection(role)[0]) is not None
    }
    gains = {role: norm.weight for role in ROLES if (norm := attention.norm(role)) is not None}
    return _by_head(whole, gains, attention.heads, attention.groups)


def _of_modules(model: nn.Module) -> Iterator[Matrices]:
    """Matrices of each module that has projections by their usual names."""
    for module in model.modules():
        parts = dict(module.named_children())
        width = next((getattr(module, name) for name in WIDTHS if hasattr(module, name)), None)
        names = next((names for names in APART if {*names} <= {*parts}), ())
        kind = type(module).__name__
        one = parts.get((TOGETHER | BY_HEAD).get(kind, ""))
        output = next((_matrix(parts[name]) for name in PROJECTIONS if name in parts), None)
        if not isinstance(width, int) or not (names or one):
            continue
        whole = {role: _matrix(parts[name]) for role, name in zip(ROLES, names, strict=False)}
        if one is not None and output is not None:
            whole = _cut(_matrix(one), len(output), width, kind in BY_HEAD)
        heads, groups = (whole[role].shape[1] // width for role in ("queries", "keys"))
        if output is not None:
            d_v = whole["values"].shape[1] // groups
            if heads * d_v != len(output):  # with the queries something else is projected
                heads = len(output) // d_v
                del whole["queries"]
            whole["output"] = output
        norms = {name: norm for name, norm in parts.items() if NORMS.fullmatch(name)}
        if all("RMS" in type(norm).__name__ for norm in norms.values()):
            roles = {"q": "queries", "k": "keys"}
            gains = {roles[name[0]]: _gain(norm) for name, norm in norms.items()}
        else:
            gains = {}
            whole.pop("queries", None)
        yield _by_head(whole, gains, heads, groups)


def _gain(norm: Any) -> Tensor:
    """The factors of a norm that divides by the root of the mean of the squares. (width,)."""
    made: Tensor = norm(torch.ones_like(norm.weight))
    return made.double()


def _matrix(projection: nn.Module) -> Tensor:
    """The matrix (d_in, d_out) that a projection acts by, whatever it is made of."""
    weight = next(projection.parameters())
    d_in = getattr(projection, "in_features", weight.shape[0])
    eye = torch.eye(d_in, dtype=weight.dtype, device=weight.device)
    made: Tensor = projection(eye) - projection(torch.zeros_like(eye[:1]))
    return made.double()


def _cut(whole: Tensor, n_queries: int, width: int, by_head: bool) -> dict[str, Tensor]:
    """The matrices of queries, keys and values in one. n_queries: columns of all queries."""
    if by_head:
        parts = whole.unflatten(1, (-1, 3, width)).movedim(2, 0).flatten(2)
        return dict(zip(ROLES, parts, strict=True))
    n_keys = (whole.shape[1] - n_queries) // 2
    return dict(zip(ROLES, whole.split([n_queries, n_keys, n_keys], 1), strict=True))


def _by_head(whole: Matrices, gains: Matrices, heads: int, groups: int) -> Matrices:
    """Matrices of all heads together, those of each. gains: of the norms of queries and keys, of
    each head alike or of all side by side."""
    of_heads = {}
    for role, W in whole.items():
        gain = gains.get(role, torch.ones(1)).to(W.device, torch.float64)
        scaled = W.double() * gain.repeat(W.shape[1] // len(gain))
        if role == "output":
            of_heads[role] = scaled.unflatten(0, (heads, -1)).mT
        else:
            count = heads if role == "queries" else groups
            of_heads[role] = share_heads(scaled.unflatten(1, (count, -1)).movedim(1, 0), heads)
    return of_heads
