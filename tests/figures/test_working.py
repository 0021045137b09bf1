"""The working of a number: its rows as they are shown, which add up."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from attention.figures.tables import number, whole_number
from attention.figures.working import FEWER_ROWS, MAX_ROWS, Working
from tests.cases import over
from tests.figures.test_tables import read
from tests.sent import sent_as


def rows_of(work: Working) -> list[Sequence[str]]:
    """The cells of all rows as they are sent, the name first, after those the total."""
    (table,) = sent_as(work.content()).header["tables"]
    return [*table["lines"], *filter(None, [table["total"]])]


def test_a_working_without_columns_is_its_text_and_without_a_total_has_no_last_row() -> None:
    header = sent_as(Working("It is < itself.").content()).header
    assert header == {"text": "It is < itself.", "told": [], "tables": []}
    assert rows_of(Working("w", ["a"], {"q": [1.0]})) == [["a", "1"]]


def test_several_columns_add_up_where_their_totals_are_given_whatever_there_is_in_a_row() -> None:
    names, columns = [str(row) for row in range(99)], {"a": ["none"] * 99, "b": [None] * 99}
    *rows, total = rows_of(Working("w", names, columns, totals=["sum", "5", "7"]))
    assert (len(rows), total) == (99, ["sum", "5", "7"])


def long(count: int) -> Working:
    terms = [(-1.0) ** row * (1 + (row * 37) % count) / 7 for row in range(count)]
    columns: dict[str, Any] = {"fate": ["kept"] * count, "weight": [2 * term for term in terms]}
    columns["term"] = terms
    return Working("Long.", [f"t{row}" for row in range(count)], columns, "sum", math.fsum(terms))


@over("count", [MAX_ROWS + 1, 131, 512])
def test_of_more_rows_the_largest_are_shown_and_what_the_others_come_to(count: int) -> None:
    work = long(count)
    *shown, rest, total = rows_of(work)
    terms = dict(zip(work.names, work.columns["term"], strict=True))
    assert len(shown) == FEWER_ROWS == 32
    assert rest[:3] == [f"{count - FEWER_ROWS} more", "", ""]

    names = [row[0] for row in shown]
    assert names == sorted(names, key=lambda name: int(name[1:])), "in their own order"
    smallest = min(abs(float(terms[name])) for name in names)
    others = [abs(float(term)) for name, term in terms.items() if name not in names]
    assert smallest >= max(others)
    for name, fate, weight, term in shown:
        assert fate == "kept"
        assert term == number(float(terms[name]))
        assert weight == number(2 * float(terms[name]))

    added = math.fsum(read(row[-1]) for row in [*shown, rest])
    assert abs(added - read(total[-1])) <= (FEWER_ROWS + 2) * 0.5e-4
    assert work.total is not None
    assert abs(read(total[-1]) - work.total) <= 0.5e-4


def test_integers_among_integers_are_written_as_such() -> None:
    work = Working(
        "", ("0", "1"), {"q": [1.0, 2.0], "k": [0.5, -3.0], "q·k": [0.5, -6.0]}, "sum", -5.5
    )
    assert rows_of(work) == [
        ["0", "1", "0.5000", "0.5000"],
        ["1", "2", "−3.0000", "−6.0000"],
        ["sum", "", "", "−5.5000"],
    ]
    whole = Working("", ("0", "1"), {"q": [1.0, 2.0], "q·k": [4.0, -6.0]}, "sum", -2.0)
    assert rows_of(whole)[-1] == ["sum", "", "−2"]
    assert whole_number(-0.0) == "0"
    assert whole_number(1e6) == number(1e6)


def test_the_total_of_a_long_table_is_told_above_it_too() -> None:
    names = [str(row) for row in range(13)]
    long = Working("Words.", names, {"x": [0.5] * 13}, "sum", 6.5)
    assert sent_as(long.content()).header["told"] == ["sum", "6.5000"]
    short = Working("Words.", names[:12], {"x": [0.5] * 12}, "sum", 6.0)
    assert sent_as(short.content()).header["told"] == []
