"""Numbers as the cells of tables."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TypeGuard

from attention.core.printing import fixed, shown
from attention.core.printing import number as number
from attention.core.printing import whole_number as whole_number

Cell = float | str | None


def typed(value: float) -> str:
    """A number with all its digits, as one would type it."""
    return shown(f"{Decimal(repr(value or 0)).normalize():f}")


def _to(digits: int, value: float | None) -> str:
    return "" if value is None else fixed(value, digits)


def written_cells(cells: Sequence[Cell], digits: int | None = None) -> list[str]:
    """Cells as they are shown. digits: how many decimals, None = as `number` has them."""
    write = number if digits is None else functools.partial(_to, digits)
    return [cell if isinstance(cell, str) else write(cell) for cell in cells]


def with_integers(
    columns: Mapping[str, Sequence[float | str | None]],
) -> dict[str, Sequence[float | str | None]]:
    """Columns of integers alone, written as such, and the others as they are."""
    return {
        name: [whole_number(cell) if isinstance(cell, (int, float)) else cell for cell in cells]
        if all(cell == round(cell) for cell in cells if _is_finite(cell))
        else cells
        for name, cells in columns.items()
    }


def _is_finite(cell: float | str | None) -> TypeGuard[float]:
    return isinstance(cell, (int, float)) and math.isfinite(cell)
