"""Results of an operation, or why it has none; and matrices of stacks to be drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor

from attention.figures.matrix import Matrix
from attention.figures.tables import whole_number
from attention.figures.working import Working

DIMS = ("batch", "row", "column")
MAX_DRAWN = 10


@dataclass(frozen=True, eq=False)
class Contrast:
    """A mistake beside the right result: under a sentence, rows of matrices and their sums."""

    title: str
    words: str
    pictures: Sequence[Sequence[Matrix | str]]
    names: Sequence[str]
    columns: Mapping[str, Sequence[float | str | None]]


@dataclass(frozen=True, eq=False)
class Made:
    """Result of an operation.

    shapes: before and after; pictures: rows of matrices, of which the last can be chosen in;
    hint: what choosing there shows; working: (picture, row, column) -> how that came about;
    call: torch's own; ours, torchs: both answers, of one shape; answer: torch's, to be drawn;
    notes: what a reader should know of these numbers; contrast: a common mistake beside it;
    whose: the other answer, in words; codes: shown side by side.
    """

    shapes: str
    pictures: Sequence[Sequence[Matrix | str]]
    hint: str
    working: Callable[[int, int, int], Working]
    call: str
    ours: Tensor
    torchs: Tensor
    answer: Sequence[Matrix | str]
    notes: Sequence[str] = ()
    contrast: Contrast | None = None
    whose: str = "Torch’s own answer"
    codes: Sequence[str] = ()

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Number of pictures to choose in, and of the rows and columns of each."""
        last = self.pictures[0][-1]
        assert isinstance(last, Matrix)
        return (len(self.pictures), last.numbers.shape[0], last.numbers.shape[1])

    def has(self, cell: tuple[int, int]) -> bool:
        """True if a cell is one of each picture's result."""
        _, rows, columns = self.sizes
        return cell[0] in range(rows) and cell[1] in range(columns)

    @property
    def agrees(self) -> bool:
        """True if both answers are the same numbers but for rounding."""
        return torch.allclose(self.ours.float(), self.torchs.float(), atol=1e-6)

    @property
    def difference(self) -> float | None:
        """The greatest difference of both answers where both are numbers; None without any."""
        apart = (self.ours.float() - self.torchs.float()).abs()
        apart = apart[~apart.isnan()]
        return float(apart.max()) if apart.numel() else None

    @property
    def compared(self) -> str:
        """Difference of both answers, in words."""
        if self.difference is None:
            return "Nothing to compare: torch has no number here."
        where = ", where it has numbers" if self.torchs.isnan().any() else ""
        words = f"Greatest difference from ours{where}: {whole_number(self.difference)}"
        return f"{self.whose} is the same. {words}" if self.agrees else words


@dataclass(frozen=True)
class Refused:
    """Why there is no answer: in words; and, where torch was asked, its call and its own words."""

    pictures: ClassVar[Sequence[Sequence[Matrix | str]]] = ()

    words: Sequence[str]
    call: str = ""
    torch_says: str = ""
    worked: Working | None = None


def names_of(name: str, numbers: Tensor) -> list[str]:
    """Names of the matrices of a stack, as many of them as are drawn."""
    few = numbers[:MAX_DRAWN]
    return [name] if len(numbers) == 1 else [f"{name}[{index}]" for index in range(len(few))]


def side_by_side(name: str, numbers: Tensor, **about: Any) -> list[Matrix]:
    """The matrices of a stack in a row."""
    named = zip(names_of(name, numbers), numbers, strict=False)
    return [Matrix(called, matrix, **about) for called, matrix in named]


def undrawn(numbers: Tensor) -> list[str]:
    """A word where a stack has more matrices than are drawn."""
    few = f"Of {len(numbers)} matrices the first {MAX_DRAWN} are drawn."
    return [few] if len(numbers) > MAX_DRAWN else []


def shape_of(tensor: Tensor) -> str:
    return str(tuple(tensor.shape))
