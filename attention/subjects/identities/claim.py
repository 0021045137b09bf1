"""Cases that a claim about attention is checked on, and results; see `identities`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from attention.core.functional import attend
from attention.core.variants import ParametersConfig, parameter_maker
from attention.figures.matrix import Matrix
from attention.figures.tables import number

EPSILON = torch.finfo(torch.float32).eps


@dataclass(frozen=True, eq=False)
class Case:
    """Case that a claim is checked on.

    x: (n, d_model), names: one per row; d_k: width of queries, keys and values; seed: of everything
    drawn; mistake: which one; pads: how many tokens at the end count as padding; fill: what their
    scores are filled with by mistake.
    """

    x: Tensor
    names: Sequence[str]
    d_k: int = 2
    seed: int = 0
    mistake: str = "values"
    pads: int = 1
    fill: float = 0.0

    def __post_init__(self) -> None:
        if self.x.dim() != 2 or not self.x.numel() or len(self.x) != len(self.names):
            raise ValueError(
                f"x must be (n, d_model) with n names, at least 1 × 1: "
                f"got {tuple(self.x.shape)} and {len(self.names)} names"
            )

    def parameters(self, *more: tuple[int, ...]) -> list[Tensor]:
        """W_q, W_k, W_v, each (d_model, d_k), then one of each further shape.

        Uniform, from a generator of their own; the first three are the same for every claim.
        """
        d_model = self.x.shape[1]
        make = parameter_maker(ParametersConfig(d_model, seed=self.seed))
        shapes = (*[(d_model, self.d_k)] * 3, *more)
        return [make(*shape).detach() for shape in shapes]

    def matrix(self, name: str, numbers: Tensor, *, square: bool = False) -> Matrix:
        """A matrix with one row per token and, where `square`, one column per token."""
        return Matrix(name, numbers, self.names, self.names if square else ())

    def given(self, **parameters: Tensor) -> list[Matrix]:
        """X and the parameters by their names."""
        return [self.matrix("X", self.x)] + [Matrix(name, W) for name, W in parameters.items()]


@dataclass(frozen=True, eq=False)
class Row:
    """Matrices in a row with what stands between them, under a sentence."""

    caption: str
    parts: Sequence[Matrix | str]


@dataclass(frozen=True)
class Table:
    """Named columns of numbers, one row per name, under a sentence."""

    caption: str
    names: Sequence[str]
    columns: Mapping[str, Sequence[float | str | None]]


@dataclass(frozen=True)
class Codes:
    """Pieces of code to lie side by side, each under its title."""

    pieces: Mapping[str, str]


@dataclass(frozen=True, eq=False)
class Check:
    """Two matrices, said to be equal up to `allowed`, or not to be.

    Their difference is the greatest one of their numbers as they are shown, without its sign.
    """

    label: str
    left: Matrix
    right: Matrix
    allowed: float
    equal: bool = True

    @property
    def difference(self) -> float:
        return float((self.left.numbers.double() - self.right.numbers.double()).abs().max())

    @property
    def same(self) -> bool:
        """True if the two are equal, whatever was expected."""
        return self.difference <= self.allowed

    @property
    def holds(self) -> bool:
        return self.same == self.equal

    @property
    def verdict(self) -> str:
        """Sentence on the two, true of the numbers whatever was expected."""
        if not self.difference:
            return "Equal to the last digit."
        apart = f"they differ by {number(self.difference)} at most"
        return f"True to rounding: {apart}." if self.same else f"Not the same: {apart}."


@dataclass(frozen=True, eq=False)
class ClaimResult:
    """Result of a claim: its sentence, its LaTeX formula, the reason, what to look at, the checks.

    given: the matrices that everything shown can be recomputed from.
    """

    says: str
    formula: str
    why: str
    shown: Sequence[Row | Table | Codes]
    checks: Sequence[Check]
    given: Sequence[Matrix]

    def picture(self, at: int) -> Sequence[Matrix | str]:
        """The claim in one row of matrices: the two sides of a check."""
        check = self.checks[at]
        return [check.left, "=" if check.same else "≠", check.right]


def separated(parts: Sequence[Matrix], join: str) -> list[Matrix | str]:
    """Matrices with the same sign between any two."""
    row: list[Matrix | str] = []
    for part in parts:
        row += [part, join]
    return row[:-1]


def difference(left: Matrix, right: Matrix) -> Matrix:
    """One matrix minus another, in the colours of the first."""
    apart = (left.numbers.double() - right.numbers.double()).float()
    sizes = left.numbers[left.numbers.isfinite()].abs()
    most = float(sizes.max()) if sizes.numel() else None
    return Matrix("difference", apart, left.row_names, left.column_names, most=most)


def compared(caption: str, left: Matrix, right: Matrix) -> Row:
    """Two matrices and their difference."""
    return Row(caption, [left, "−", right, "=", difference(left, right)])


def rounding(*factors: Tensor) -> float:
    """Bound on the distance of two orders of multiplying float32 matrices: 4 ε a product.

    In units of the product of the absolute values, as errors are bounded in Higham 2002, section
    3.5. The bound there also grows with the number of terms; what is rounded up and down evens
    out, so that four ε are ample.
    """
    size = factors[0].double().abs()
    for factor in factors[1:]:
        size = size @ factor.double().abs()
    return 4 * (len(factors) - 1) * EPSILON * float(size.max())


def weight_rounding(x: Tensor, W_q: Tensor, W_k: Tensor) -> float:
    """:func:`rounding` for attention weights: scores off by δ change a weight by 2 δ of itself."""
    scores = rounding(x, W_q, W_k.T, x.T) / math.sqrt(W_q.shape[1])
    return 2 * scores + 8 * EPSILON


def output_rounding(x: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor) -> float:
    """:func:`rounding` for the output of attention: that of its weights, and of its values."""
    values = float((x.double().abs() @ W_v.double().abs()).max())
    return weight_rounding(x, W_q, W_k) * values + rounding(x, W_v)


def self_attention(
    x: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor, mask: Tensor | None = None
) -> Tensor:
    """`softmax(X W_q (X W_k)ᵀ / √d_k) X W_v`. Returns (n, d_v)."""
    return attend(x @ W_q, x @ W_k, x @ W_v, mask=mask).output


def weights_of(x: Tensor, W_q: Tensor, W_k: Tensor) -> Tensor:
    """The attention weights over x. Returns (n, n)."""
    return attend(x @ W_q, x @ W_k, x).weights
