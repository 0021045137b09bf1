"""Weights of layers without a softmax, which keep one state and read it: decay, erasing, the state.

Such a layer reads the keys that a query may see one after the other, in their order. With each one
its state decays, gives back the value it has for that key, if it erases, and takes the key's value
in; then the query asks. So each output is a sum of values by weights, and these are made here.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor


def decayed(
    scaled: Tensor,
    queries: Tensor,
    keys: Tensor,
    scale: float,
    decay: Tensor,
    mask: Tensor | None = None,
    *,
    chunk: int = 1 << 20,
) -> Tensor:
    """`scale · Σ_d q_id k_jd exp(Σ_{t>j} g_td)`: scores times what is left of each key.

    scaled: (…, queries, keys), the scores times the scale; queries (…, queries, d_k), keys
    (…, keys, d_k): those that these are products of; decay: the logarithms g of each key's decay,
    (…, keys, 1) for all dimensions (Sun et al. 2023, eq. 5; Dao & Gu 2024, section 3.1), or (…,
    keys, d_k) for each its own (Yang et al. 2023, eq. 3); mask: as in `attend`: of keys that a
    query may not see no decay counts. Returns (…, queries, keys).
    With a decay for each dimension (queries, keys, d_k) numbers are made at most `chunk` at a time,
    and what was added to scaled besides does not decay.
    """
    if decay.shape[-1] == 1:
        return scaled * _later(decay.mT, mask, -1).exp()
    rows, size = scaled.shape[-2], max(1, scaled[..., :1, :].numel() * decay.shape[-1])
    blocks = []
    for some in torch.arange(rows).split(max(1, chunk // size)):
        block = slice(int(some[0]), int(some[-1]) + 1)
        seen = None if mask is None else mask.expand(scaled.shape)[..., block, :, None]
        lost = _later(decay.unsqueeze(-3), seen, -2).expm1()
        terms = queries[..., block, None, :] * keys.unsqueeze(-3) * lost
        blocks.append(scaled[..., block, :] + scale * terms.sum(-1))
    return torch.cat(blocks, -2)


def _later(decay: Tensor, mask: Tensor | None, dim: int) -> Tensor:
    """Sum of the decays of all later keys that may be seen, along a dimension of keys."""
    seen = decay if mask is None else decay * mask
    from_here = seen.flip(dim).cumsum(dim).flip(dim)
    last = torch.zeros_like(from_here.narrow(dim, 0, 1))
    return torch.cat([from_here.narrow(dim, 1, seen.shape[dim] - 1), last], dim)


def erased(
    scores: Tensor,
    keys: Tensor,
    strength: Tensor,
    decay: Tensor | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """Part of each score that later keys take back, of any sign (Yang et al. 2024, section 3).

    `e_ij = -Σ_{l>j} (s_il + e_il) β_l (k_l · k_j) exp(Σ_{j<t≤l} g_t)`, so that s + e is
    `s [I + tril(diag β · K Kᵀ ∘ Γ, -1)]⁻¹`: a value that is written at a key like an earlier one
    replaces the share β of what the state had there.

    scores: (…, queries, keys), decayed; keys: (…, keys, d_k); strength: β, (…, keys, 1);
    decay, mask: see `decayed`. Returns (…, queries, keys), 0 where the mask hides.
    """
    seen = torch.ones_like(scores) if mask is None else mask.to(scores).expand(scores.shape)
    later = torch.zeros_like(scores[..., :1]) * keys[..., :1, :]  # by each query, (…, queries, d_k)
    columns = []
    for at in reversed(range(keys.shape[-2])):
        column, key = slice(at, at + 1), keys[..., at : at + 1, :]
        taken = -(later * key).sum(-1, keepdim=True) * seen[..., column]
        left = scores[..., column] * seen[..., column] + taken
        later = later + left * strength[..., column, :] * key
        if decay is not None:
            later = later * (decay[..., column, :] * seen[..., column]).exp()
        columns.append(taken)
    return torch.cat(columns[::-1], -1) + 0.0  # no -0.0


def weights_of_rows(
    queries: Tensor,
    at: Tensor,
    keys: Tensor,
    decay: Tensor,
    strength: Tensor,
    erases: bool = False,
    first: int = 0,
    *,
    chunk: int = 64,
) -> Tensor:
    """Weights of some rows of a causal layer, without those of any other row.

    queries: (rows, d_k), scaled; at: their positions, (rows,); keys: (keys, d_k); decay, strength:
    (keys,), see `decayed` and `erased`; first: the first key that is asked for. Returns (rows,
    keys), 0 before the chunk of that key. With erasing, keys are read backwards in chunks, each of
    which is one triangular system (Yang et al. 2024, section 3.2).
    """
    found = queries.new_zeros(len(at), len(keys))
    stop = int(at.max()) + 1 if len(at) else 0
    sums = decay.double().cumsum(0)
    if not erases:
        seen = at[:, None] >= torch.arange(stop, device=at.device)
        left = (sums[at, None] - sums[:stop]).where(seen, -torch.inf).exp().to(queries)
        found[:, :stop] = queries @ keys[:stop].T * left * strength[:stop]
        return found
    later = torch.zeros_like(queries)
    for start in reversed(range(first // chunk * chunk, stop, chunk)):
        part = slice(start, min(start + chunk, stop))
        some, share = keys[part], strength[part]
        within = sums[part] - (sums[start - 1] if start else 0.0)
        left = (within[:, None] - within).tril().exp().tril().to(queries)
        rows = (at >= start).nonzero()[:, 0]
        last = (at[rows] - start).clamp(max=len(some) - 1)
        asked = queries[rows].where((at[rows] < part.stop)[:, None], later[rows])
        system = (share[:, None] * (some @ some.T) * left).tril(-1)
        kept = torch.linalg.solve_triangular(
            system, asked @ some.T * left[last], upper=False, left=False, unitriangular=True
        )
        found[rows, part] = weights = kept * share
        whole = within.exp().to(queries)
        later[rows] = asked * whole[last, None] - (weights * whole) @ some
    return found


def states(
    keys: Tensor,
    values: Tensor,
    decay: Tensor | None = None,
    strength: Tensor | None = None,
    erases: bool = False,
    seen: Tensor | None = None,
) -> Iterator[Tensor]:
    """Yield the state (d_k, d_v) after each key: what a query is multiplied by to get its output.

    keys (keys, d_k), values (keys, d_v); decay (keys, 1 or d_k), strength (keys, 1): see `decayed`
    and `erased`; seen: bool (keys,), the keys that the query may see, None = all.
    """
    state = keys.new_zeros(keys.shape[-1], values.shape[-1])
    for at, (key, value) in enumerate(zip(keys, values, strict=True)):
        if seen is None or seen[at]:
            if decay is not None:
                state = state * decay[at].exp()[:, None]
            new = value - key @ state if erases else value
            state = state + key[:, None] * (new if strength is None else strength[at] * new)
        yield state
