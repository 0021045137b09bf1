"""Measures of heads, as a table and in words."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from attention.analysis.heads import Overview, order
from attention.core.printing import fixed

MEASURED = "what each head attends to"
MEASURED_SIZES = "where the weights of each head lie, by size"
DIGITS = 3  # of a measure, at a glance


def measured(seen: Overview) -> str:
    """Title of the table of measures."""
    return MEASURED_SIZES if seen.of_sizes else MEASURED


def measures_heading(seen: Overview) -> str:
    """Heading above it: of weights below 0 nobody says that they look."""
    return "Where the weights of each head lie" if seen.of_sizes else "Where each head looks"


def measure_table(
    seen: Overview, by: str, names: Sequence[str] = (), absent: Collection[int] = ()
) -> tuple[list[str], Mapping[str, Sequence[float]], list[str]]:
    """Names, columns and last row (an even spread) of the measures, sorted; see `scene.Table`.

    names: what the heads are called, where that is not "head 0" and so on; absent: those that are
    none. Of a sample the standard error of each measure stands beside it.
    """
    rows = [head for head in order(seen.measures, by) if head not in absent]
    columns, even = {}, ["even spread"]
    for name, numbers in seen.measures.items():
        columns[name] = numbers[rows].tolist()
        even.append(fixed(seen.even_spread[name], DIGITS))
        if name in seen.errors:
            columns[f"± {name}"] = seen.errors[name][rows].tolist()
            even.append("")
    return [names[head] if names else f"head {head}" for head in rows], columns, even


def sample_words(seen: Overview) -> str:
    """Tell of which queries the measures and pictures of heads are, "" where of all."""
    rows, of = seen.rows
    return "" if rows == of else f"{rows:,} of {of:,} queries, spread evenly over the run"
