"""Numbers as HTML tables, all text escaped."""

from __future__ import annotations

import functools
import html
import math
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import TypeGuard

from attention.core.printing import fixed, shown
from attention.core.printing import number as number
from attention.core.printing import whole_number as whole_number
from attention.figures import files

Cell = float | str | None


def typed(value: float) -> str:
    """A number with all its digits, as one would type it."""
    return shown(f"{Decimal(repr(value or 0)).normalize():f}")


def table(
    title: str,
    names: Sequence[str],
    columns: Mapping[str, Sequence[float | str | None]],
    *,
    total: Sequence[str] = (),
    digits: int | None = None,
) -> str:
    """A table with one row per name; `total`: the cells of a last row, its name first.

    title: what its file is called after, none of a visitor's words; digits: how many decimals are
    seen, None = as `number` has them. The file has all.
    """
    write = number if digits is None else functools.partial(_to, digits)
    files.offer_table(title, names, columns, total)
    head = "".join(f"<th scope='col'>{html.escape(name)}</th>" for name in ("", *columns))
    lines = []
    for name, *row in zip(names, *columns.values(), strict=True):
        lines.append(
            f"<tr><th scope='row'><bdi>{html.escape(name)}</bdi></th>{_cells(row, write)}</tr>"
        )
    foot = ""
    if total:
        name, *cells = total
        last = f"<th scope='row'>{html.escape(name)}</th>{_cells(cells, write)}"
        foot = f"<tfoot><tr>{last}</tr></tfoot>"
    return (
        f"<div class='numbers' tabindex='0'><table><thead><tr>{head}</tr></thead>"
        f"<tbody>{''.join(lines)}</tbody>{foot}</table></div>"
    )


def shares(title: str, names: Sequence[str], columns: Mapping[str, Sequence[float | str]]) -> str:
    """A table of shares from 0 to 1, each with a bar of its length; title as in `table`."""
    files.offer_table(title, names, columns)
    head = "".join(f"<th scope='col'>{html.escape(name)}</th>" for name in ("", *columns))
    lines = []
    for name, *row in zip(names, *columns.values(), strict=True):
        cells = "".join(f"<td>{_bar(cell)}</td>" for cell in row)
        lines.append(f"<tr><th scope='row'><bdi>{html.escape(name)}</bdi></th>{cells}</tr>")
    return (
        f"<div class='numbers shares' tabindex='0'><table><thead><tr>{head}</tr></thead>"
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )


def _bar(cell: float | str) -> str:
    if isinstance(cell, str):
        return f"<span>{html.escape(cell)}</span>"
    return f"<i style='width:{6 * cell:.3f}rem'></i><span>{number(cell)}</span>"


def _to(digits: int, value: float | None) -> str:
    return "" if value is None else fixed(value, digits)


def written_cells(cells: Sequence[Cell], digits: int | None = None) -> list[str]:
    """Cells as they are shown. digits: how many decimals, None = as `number` has them."""
    write = number if digits is None else functools.partial(_to, digits)
    return [cell if isinstance(cell, str) else write(cell) for cell in cells]


def _cells(row: Sequence[Cell], write: Callable[[float | None], str]) -> str:
    shown = (cell if isinstance(cell, str) else write(cell) for cell in row)
    return "".join(f"<td>{html.escape(cell)}</td>" for cell in shown)


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
