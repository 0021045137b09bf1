"""The plane on which vectors differ most, and their cosines."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import normalize


@dataclass(frozen=True, eq=False)
class Plane:
    """The plane on which some vectors differ most: a point of it, two axes, and what it keeps.

    middle (d,); axes (2, d), orthonormal, 0 where the vectors differ in fewer directions;
    kept: the share of their squared distances from the middle that the plane shows, 0 to 1.
    """

    middle: Tensor
    axes: Tensor
    kept: float

    def __call__(self, vectors: Tensor) -> Tensor:
        """Positions of vectors (n, d) on the plane. (n, 2), float64."""
        return (vectors.double() - self.middle) @ self.axes.T


def plane_of(vectors: Tensor) -> Plane:
    """The first two principal components of vectors (n, d), n at least 1 (Pearson 1901).

    The sign of an axis is free: here its entry of greatest size is positive.
    """
    middle = vectors.double().mean(0)
    _, sizes, axes = torch.linalg.svd(vectors.double() - middle, full_matrices=False)
    two = torch.zeros(2, vectors.shape[1], dtype=torch.float64)
    real = [axis for axis, size in zip(axes[:2], sizes[:2], strict=True) if size > 1e-9]
    for row, axis in zip(two, real, strict=False):
        row.copy_(axis * axis[axis.abs().argmax()].sign())
    total = float(sizes.square().sum())
    kept = float(sizes[:2].square().sum()) / total if total else 1.0
    return Plane(middle, two, kept)


def cosines(vector: Tensor, others: Tensor) -> list[float]:
    """The cosine of a vector (d,) with each of others (n, d); 0 where one of them is 0."""
    directions = normalize(others.double(), dim=1)
    found: list[float] = (directions @ normalize(vector.double(), dim=0)).tolist()
    return found
