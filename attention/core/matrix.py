"""A matrix to be shown, with the cells that meet in each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from torch import Tensor

from attention.core.printing import number, whole_number

Lights = Literal["", "cell", "row", "column", "row of the column", "column of the row"]


@dataclass(frozen=True, eq=False)
class Matrix:
    """A matrix to be shown.

    numbers: (rows, columns); row_names, column_names: a name each, or none; kind: "signed" is
    coloured around 0, "share" from 0 up; allowed: (rows, columns) bool, False = masked; lights:
    what of it is lit while cell (i, j) of the result is pointed at: its row i, its column j, its
    row j ("row of the column"), its column i, or the same cell; most: the size that the last
    colour stands for, None = the greatest there is.
    """

    name: str
    numbers: Tensor
    row_names: Sequence[str] = ()
    column_names: Sequence[str] = ()
    kind: Literal["signed", "share"] = "signed"
    allowed: Tensor | None = None
    lights: Lights = ""
    most: float | None = None

    def __post_init__(self) -> None:
        if self.numbers.dim() != 2:
            raise ValueError(
                f"{self.name} must have 2 dimensions to be shown, got {tuple(self.numbers.shape)}"
            )

    @property
    def greatest(self) -> float:
        """The greatest size of its numbers that are shown and finite, 0 of none."""
        numbers = self.numbers.detach().float()
        sizes = (numbers if self.allowed is None else numbers[self.allowed]).abs()
        return max(sizes[sizes.isfinite()].tolist(), default=0.0)

    @property
    def whole(self) -> bool:
        """True if all finite numbers are integers, as those that are typed; shares never count."""
        finite = self.numbers.detach().float()
        finite = finite[finite.isfinite()]
        return self.kind != "share" and bool(
            ((finite == finite.round()) & (finite.abs() < 1e5)).all()
        )

    def write(self, value: float) -> str:
        """A number of it as shown: an integer among integers as such."""
        return whole_number(value) if self.whole else number(value)
