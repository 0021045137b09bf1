"""Heads that are near by their weights, beside random ones: by subspaces, and by products.

Near are subspaces that W_V reads and W_O writes, each direction alike. Of products what is strong
counts more: W_Q W_Kᵀ is what a head matches, and what one writes by W_V W_O later ones may ask by,
or be found by (composition, Elhage et al. 2021). Random products have the same spectrum; those of
heads that share W_K share random keys, too, so that this alone makes none near.

All products are compared as matrices A Bᵀ, by their inner products over all entries.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import torch
from torch import Tensor

from attention.atlas.circuits import EVEN, orthonormal
from attention.atlas.matrices import HeadMatrices, matrices_of
from attention.atlas.passport import SEED, Against, Near, Numbered
from attention.atlas.statistics import middle_of
from attention.trained.models import Model

NEAREST = 3  # heads on each side
RARE = 0.05  # of random sides, the share where any pair lies above the bound
LEAST_DRAWN = 200  # random pairs of products, where fewer are compared, too
ROWS = 64  # of products that are worked out at once
PRODUCTS = ("matches", "asks", "queries", "keys")  # sides of these
LATER = ("feeds", "queries", "keys")  # sides on which the other head stands behind

Found = dict[tuple[int, int], tuple[Near, ...]]  # by layer and head


@dataclass(frozen=True, eq=False)
class Part(Numbered):
    """A part of a head that is compared: A Bᵀ, (d_model, rank) each. path: which it reads or
    writes; group: the first head that has the same W_K and W_V."""

    path: str
    layer: int
    head: int
    group: int
    A: Tensor
    B: Tensor

    @classmethod
    def of(cls, head: HeadMatrices, path: str, A: Tensor, B: Tensor | None = None) -> Part:
        """A part of a head. B: A where there is none."""
        return cls(path, head.layer, head.head, head.group, A, A if B is None else B)

    @property
    def rank(self) -> int:
        """The columns of A and B."""
        return self.A.shape[1]


@torch.no_grad()
def near_of(model: Model) -> Found:
    """Heads that are near, at most three on each side, by layer and head; for sides see
    `passport.Near`.

    A head is near where it lies above the mean of random ones by more than any of as many random
    pairs as there are pairs on that side, and by more than .05 of such sides have one pair (a
    normal distribution of their spread, Bonferroni). Heads that share W_V stand once where it
    reads, by the first of them; of those that share W_K the nearest stands where keys are fed.
    """
    heads = matrices_of(model)
    generator = torch.Generator().manual_seed(SEED)
    sides = _by_subspaces(heads, generator) | _by_products(heads, generator)
    return {
        (head.layer, head.head): tuple(
            near
            for side, found in sides.items()
            for near in found.get((head.layer, head.group if side == "reads" else head.head), ())
        )
        for head in heads
    }


def _by_subspaces(heads: Sequence[HeadMatrices], generator: torch.Generator) -> dict[str, Found]:
    reads = [
        Part.of(head, head.place.reads, basis_of(head.W_V))
        for head in heads
        if head.head == head.group
    ]
    writes = [Part.of(head, head.place.writes, basis_of(head.W_O.T)) for head in heads]
    found = {}
    for side, ones, others in (
        ("reads", reads, reads),
        ("writes", writes, writes),
        ("feeds", writes, reads),
    ):
        pairs = _pairs(side, ones, others)
        if not pairs.any():
            continue
        ranks = [[max(one.rank, other.rank) for other in others] for one in ones]
        expected = torch.tensor(ranks, dtype=torch.float64) / len(ones[0].A)
        random = (
            [orthonormal(len(one.A), one.rank, generator) for one in each]
            for each in (ones, others)
        )
        by_chance = overlaps(*random) - expected
        overlapping = overlaps(*([one.A for one in each] for each in (ones, others)))
        found[side] = _nearest(side, ones, others, pairs, overlapping, expected, by_chance)
    return found


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


@dataclass(frozen=True, eq=False)
class Product:
    """A product of a head as X C Yᵀ: X and Y (d_model, k) orthonormal, C (k, k) of length 1. Heads
    of a group have the same Y."""

    head: HeadMatrices
    X: Tensor
    C: Tensor
    Y: Tensor


def products(
    several: Sequence[tuple[HeadMatrices, Tensor | None, Tensor | None]],
) -> list[Product]:
    """Products A Bᵀ of heads, those that are none or nothing left out. (d_model, k) each."""
    found = []
    for head, *factors in several:
        given = [torch.linalg.qr(W.double()) for W in factors if W is not None]
        if len(given) == len(factors):
            (X, R), (Y, S) = given
            C = R @ S.T
            if (length := float(C.norm())) > 0:
                found.append(Product(head, X.float(), (C / length).float(), Y.float()))
    return found


def _turned(several: Sequence[Product], generator: torch.Generator) -> list[Product]:
    """Random products of the same spectra, of which those of a group have one Y, too."""
    drawn: dict[tuple[int, int], Tensor] = {}
    made = []
    for one in several:
        X, Y = (orthonormal(len(side), len(one.C), generator) for side in (one.X, one.Y))
        group = (one.head.layer, one.head.group)
        made.append(replace(one, X=X, Y=drawn.setdefault(group, Y)))
    return made


def _by_products(heads: Sequence[HeadMatrices], generator: torch.Generator) -> dict[str, Found]:
    """Nearness of what heads match, by the cosine of their W_Q W_Kᵀ; of what they write to queries
    and keys, by composition scores: ‖W_V W_O W_Q W_Kᵀ‖ over ‖W_V W_O‖ ‖W_Q W_Kᵀ‖, the same with
    W_K W_Qᵀ. Of random matrices the one is 0 on average, the other near 1 over √d_model."""
    scores = products([(head, head.W_Q, head.W_K) for head in heads])
    moves = products([(head, head.W_O.T, head.W_V) for head in heads])
    found = {}
    pairs = {side: _pairs(side, *_parts(side, scores, moves)) for side in PRODUCTS}
    counts = {side: int(each.sum()) for side, each in pairs.items() if each.any()}
    drawn = [
        [_turned(each, generator) for each in (scores, moves)]
        for _ in range(-(-LEAST_DRAWN // min(counts.values())) if counts else 0)
    ]
    for sides in (("matches", "asks"), ("queries",), ("keys",)):
        if not counts.keys() & {*sides}:
            continue
        ones, others = _parts(sides[0], scores, moves)
        near = _compared(sides[0], ones, others)
        expected = torch.full_like(near, len(ones[0].A) ** -0.5 if sides[0] in LATER else 0.0)
        made = [_compared(sides[0], *_parts(sides[0], *each)) - expected for each in drawn]
        for side in counts.keys() & {*sides}:
            by_chance = torch.stack(made)
            found[side] = _nearest(side, ones, others, pairs[side], near, expected, by_chance)
    return {side: found[side] for side in counts}


def _parts(
    side: str, scores: Sequence[Product], moves: Sequence[Product]
) -> tuple[list[Part], list[Part]]:
    """Parts of products that are compared on a side: each of these with each of those."""
    if side in ("matches", "asks"):
        matching = [Part.of(one.head, f"{one.head.place}", one.X @ one.C, one.Y) for one in scores]
        return matching, matching
    writes = [Part.of(one.head, one.head.place.writes, one.X @ one.C) for one in moves]
    if side == "queries":  # they are made of the path that the head writes to
        return writes, [Part.of(one.head, one.head.place.writes, one.X @ one.C) for one in scores]
    return writes, [Part.of(one.head, one.head.place.reads, one.Y @ one.C.T) for one in scores]


def _compared(side: str, ones: Sequence[Part], others: Sequence[Part]) -> Tensor:
    """Cosines, or composition scores. (ones, others)."""
    made = inner(*([(one.A, one.B) for one in each] for each in (ones, others)))
    return made.clamp_min(0).sqrt() if side in LATER else made


def inner(ones: Sequence[tuple[Tensor, Tensor]], others: Sequence[tuple[Tensor, Tensor]]) -> Tensor:
    """Inner products of each matrix A Bᵀ with each of others, over all entries. (d_model, rank)
    each -> (ones, others)."""
    made = torch.zeros(len(ones), len(others), dtype=torch.float64)
    for rows in torch.arange(len(ones[0][0])).split(ROWS):
        one, other = (
            torch.stack([(A[rows] @ B.T).flatten() for A, B in each]) for each in (ones, others)
        )
        made += (one @ other.T).double()
    return made


def _pairs(side: str, ones: Sequence[Part], others: Sequence[Part]) -> Tensor:
    """Pairs of a side that are compared: both on one path, neither of them nothing, and a head
    feeds later ones alone. (ones, others), bool."""

    def paired(one: Part, other: Part) -> bool:
        if one.path != other.path or not (one.rank and other.rank):
            return False
        if side in LATER:
            return one.layer < other.layer
        if side in ("matches", "asks"):
            shares = (one.layer, one.group) == (other.layer, other.group)
            return one.place != other.place and shares == (side == "asks")
        return one.place != other.place

    return torch.tensor([[paired(one, other) for other in others] for one in ones])


def _nearest(
    side: str,
    ones: Sequence[Part],
    others: Sequence[Part],
    pairs: Tensor,
    found: Tensor,
    expected: Tensor,
    by_chance: Tensor,
) -> Found:
    """Of each part the nearest others above chance.

    found, expected: nearness, and that of random pairs on average; by_chance: of random pairs above
    that, once or more. (ones, others) each.
    """
    drawn = by_chance[..., pairs].flatten()
    rare = NormalDist().inv_cdf(1 - RARE / len(drawn)) * float(drawn.std())
    bound = max(float(drawn.max()), rare)
    low, high = middle_of(drawn)
    near = {}
    for at, one in enumerate(ones):
        above = (found[at] - expected[at]).masked_fill(~pairs[at], -1.0)
        best: dict[tuple[int, int], int] = {}  # of those that share keys one, where these are fed
        for to in above.argsort(descending=True, stable=True).tolist():
            if above[to] > bound and len(best) < NEAREST:
                other = others[to]
                best.setdefault((other.layer, other.group if side == "keys" else other.head), to)
        near[one.place] = tuple(
            Near(
                side,
                others[to].layer,
                others[to].head,
                Against(
                    float(found[at, to]), mean := float(expected[at, to]), mean + low, mean + high
                ),
            )
            for to in best.values()
        )
    return near
