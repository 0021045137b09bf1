"""Attention of one head by itself, from what its function was called with."""

from __future__ import annotations

import torch
from torch import Tensor

from attention.capture.calls import Call, stretches


def keys_of(call: Call, tensor: Tensor, head: int) -> Tensor:
    """Keys or values that a head attends to, of its group. (entries, keys, width)."""
    return tensor[:, head * tensor.shape[1] // call.queries.shape[1]]


def weights_of(call: Call, head: int, queries: Tensor, keys: Tensor, entries: slice) -> Tensor:
    """Weights of a head with these queries and keys of some entries. (entries, queries, keys).

    float32, float64 where the model computes in that; differentiable. Rows with nothing to attend
    to are 0.
    """
    kind = torch.promote_types(queries.dtype, torch.float32)
    if call.given is not None:
        return call.given[entries, head].to(kind)
    scores = queries.to(kind) @ keys.to(kind).mT * call.scale
    if call.cap is not None:
        scores = torch.tanh(scores / call.cap) * call.cap
    for given in (call.mask, call.bias):
        if given is not None:
            part = _of_head(given, head, entries)
            barred = part.dtype is torch.bool
            scores = scores.masked_fill(~part, -torch.inf) if barred else scores + part
    for mask in stretches(call):
        rows, columns = (torch.arange(n, device=queries.device) for n in scores.shape[-2:])
        several = range(mask.first.shape[0])
        allowed = torch.stack([mask.allowed(entry, 0, rows, columns) for entry in several])
        allowed = allowed[entries] if len(allowed) > 1 else allowed
        scores = scores.masked_fill(~allowed, -torch.inf)
    if call.sinks is not None:
        sink = call.sinks.reshape(-1)[head].to(kind).expand(*scores.shape[:-1], 1)
        scores = torch.cat([scores, sink], -1)
    nothing = (scores == -torch.inf).all(-1, keepdim=True)
    weights = scores.masked_fill(nothing, 0).softmax(-1).masked_fill(nothing, 0)
    return weights[..., : keys.shape[-2]]


def _of_head(given: Tensor, head: int, entries: slice) -> Tensor:
    given = given[(None,) * (4 - given.dim())]
    of_head = given[:, head if given.shape[1] > 1 else 0]
    return of_head[entries] if len(of_head) > 1 else of_head
