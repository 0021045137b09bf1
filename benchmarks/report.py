"""Tables of what was measured, as aligned Markdown."""

from collections.abc import Sequence

Row = Sequence[str]

TARGETS = ("measured", "value", "target", "verdict")


def at_most(what: str, value: float, limit: float | None, unit: str) -> Row:
    """A row of a table of targets: `value` against the most it may be, None = no target."""
    measured = f"{value:.2f} {unit}"
    if limit is None:
        return what, measured, "", ""
    return what, measured, f"<= {limit:g} {unit}", "meets" if value <= limit else "MISSES"


def table(title: str, header: Row, rows: Sequence[Row]) -> str:
    """A titled Markdown table: the first column to the left, the others to the right."""
    widths = [max(len(row[i]) for row in (header, *rows)) for i in range(len(header))]

    def line(row: Row) -> str:
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        return f"| {' | '.join(cells)} |"

    rule = line(["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])])
    return "\n".join([f"## {title}", "", line(header), rule, *map(line, rows), ""])
