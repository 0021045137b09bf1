"""Subspaces that heads read and write, and heads whose subspaces are near, beside random ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import torch
from torch import Tensor

from attention.atlas.circuits import EVEN, orthonormal
from attention.atlas.matrices import matrices_of
from attention.atlas.passport import SEED, Against, Near, Numbered
from attention.atlas.statistics import middle_of
from attention.trained.models import Model

NEAREST = 3  # heads on each side
RARE = 0.05  # of random sides, the share where any pair lies above the bound


@dataclass(frozen=True, eq=False)
class Subspace(Numbered):
    """A subspace that a head reads or writes. side: "reads" or "writes"; path: on which; basis
    (d_model, rank), orthonormal."""

    side: str
    path: str
    layer: int
    head: int
    basis: Tensor


@torch.no_grad()
def near_of(model: Model) -> dict[tuple[int, int], tuple[Near, ...]]:
    """Heads whose subspaces are near, at most three on each side, by layer and head.

    Nearness is the mean squared cosine of the principal angles (Björck & Golub 1973), of random
    subspaces the greater of both ranks over d_model on average. A head is near where it lies above
    that by more than any of as many random pairs of the same ranks as there are pairs on that side,
    and by more than .05 of such sides have one pair (a normal distribution of their spread,
    Bonferroni). Heads that share W_V in a group stand once, by the first of them.
    """
    heads = matrices_of(model)
    reads = [
        Subspace("reads", head.place.reads, head.layer, head.head, basis_of(head.W_V))
        for head in heads
        if head.head == head.group
    ]
    writes = [
        Subspace("writes", head.place.writes, head.layer, head.head, basis_of(head.W_O.T))
        for head in heads
    ]
    generator = torch.Generator().manual_seed(SEED)
    sides = {
        side: _nearest(side, ones, others, generator)
        for side, ones, others in (
            ("reads", reads, reads),
            ("writes", writes, writes),
            ("feeds", writes, reads),
        )
    }
    return {
        (head.layer, head.head): tuple(
            near
            for side, found in sides.items()
            for near in found.get((head.layer, head.group if side == "reads" else head.head), ())
        )
        for head in heads
    }


def basis_of(W: Tensor) -> Tensor:
    """An orthonormal basis of the span of columns. (d_model, n) -> (d_model, rank)."""
    U, sizes, _ = torch.linalg.svd(W.double(), full_matrices=False)
    basis: Tensor = U[:, sizes > EVEN * sizes[0]].float()
    return basis


def overlaps(ones: Sequence[Tensor], others: Sequence[Tensor]) -> Tensor:
    """Mean squared cosine of the principal angles of each with each of other subspaces, 0 beside
    one of rank 0. Bases (d_model, rank) -> (ones, others), from 0 to 1."""
    ranks = torch.tensor([basis.shape[1] for basis in others])
    ends = ranks.cumsum(0)
    together = torch.cat([*others], 1)
    made = torch.zeros(len(ones), len(others), dtype=torch.float64)
    for at, basis in enumerate(ones):
        squares = (basis.T @ together).square().sum(0).double().cumsum(0)
        sums = torch.cat([torch.zeros(1, dtype=torch.float64), squares])
        smaller = ranks.clamp_max(basis.shape[1]).clamp_min(1)
        made[at] = (sums[ends] - sums[ends - ranks]) / smaller
    return made


def _nearest(
    side: str, ones: Sequence[Subspace], others: Sequence[Subspace], generator: torch.Generator
) -> dict[tuple[int, int], tuple[Near, ...]]:
    """Of each of some subspaces the nearest others above chance."""
    pairs = torch.tensor([[_paired(side, one, other) for other in others] for one in ones])
    if not pairs.any():
        return {}
    found = overlaps([one.basis for one in ones], [other.basis for other in others])
    expected = torch.tensor(
        [[max(_rank(one), _rank(other)) for other in others] for one in ones], dtype=torch.float64
    ) / len(ones[0].basis)
    random = (
        [orthonormal(len(one.basis), _rank(one), generator) for one in each]
        for each in (ones, others)
    )
    by_chance = (overlaps(*random) - expected)[pairs]
    rare = NormalDist().inv_cdf(1 - RARE / len(by_chance)) * float(by_chance.std())
    bound = max(float(by_chance.max()), rare)
    low, high = middle_of(by_chance)
    near = {}
    for at, one in enumerate(ones):
        above = (found[at] - expected[at]).masked_fill(~pairs[at], -1.0)
        best = above.argsort(descending=True, stable=True)[:NEAREST].tolist()
        near[one.place] = tuple(
            Near(
                side,
                others[to].layer,
                others[to].head,
                Against(
                    float(found[at, to]), mean := float(expected[at, to]), mean + low, mean + high
                ),
            )
            for to in best
            if above[to] > bound
        )
    return near


def _rank(one: Subspace) -> int:
    return one.basis.shape[1]


def _paired(side: str, one: Subspace, other: Subspace) -> bool:
    """If two subspaces of a side are compared: both on one path, neither of them nothing, and a
    head feeds later ones alone."""
    if one.path != other.path or not (_rank(one) and _rank(other)):
        return False
    if side == "feeds":
        return one.layer < other.layer
    return one.place != other.place
