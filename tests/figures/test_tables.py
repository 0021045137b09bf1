"""Numbers as the cells of tables, and the working of a number, whose rows add up."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

from attention.core.printing import fixed, percent
from attention.figures.tables import number, typed, whole_number
from attention.figures.working import FEWER_ROWS, MAX_ROWS, Working
from tests.cases import over
from tests.properties import given, settings
from tests.properties import strategies as st
from tests.sent import sent_as

HALFWAY = st.integers(-3_199_999, 3_199_999).map(lambda count: count / 32)


def read(shown: str) -> float:
    return float(shown.replace("−", "-").replace("∞", "inf"))


@over("value", [0.0, -0.0, 2.0, -1.2345678901234567, 1e-7, -1e10, 0.1])
def test_a_typed_number_keeps_every_digit(value):
    text = typed(value)
    assert float(text.replace("−", "-")) == value
    assert not set(text) & set("-e")
    assert not text.endswith((".0", "."))


def test_text_for_people_has_one_minus_sign_and_one_place_that_writes_it():
    library = Path(__file__).parents[2] / "attention"
    files = [*library.rglob("*.py"), *library.rglob("browser/**/*.js")]
    writes = re.compile(r"""(replace|replaceAll)\("-", "−"\)""")
    found = {
        str(file.relative_to(library)) for file in files if writes.search(file.read_text("utf-8"))
    }
    assert found == {"core/printing.py", "browser/shared/words.js"}


NUMBERS = {
    **{0.0: "0.0000", -2.5: "−2.5000", 2 / 3: "0.6667", 0.001: "0.0010"},
    **{0.0009: "9.000e−4", -1.5e-7: "−1.500e−7", 99999.0: "99999.0000", 100000.0: "1.000e5"},
    **{-1.25e30: "−1.250e30", 0.03125: "0.0313", -0.03125: "−0.0313", 0.09375: "0.0938"},
    **{100050.0: "1.001e5", math.inf: "∞", -math.inf: "−∞", math.nan: "not a number", None: ""},
}


def test_four_decimals_or_four_digits_where_these_would_lose_it_halves_rounded_as_browsers_do():
    assert {value: number(value) for value in NUMBERS} == NUMBERS
    assert number(-0.0) == "0.0000"


@given(st.floats(1e-3, 99_999) | HALFWAY)
@settings(max_examples=200)
def test_four_decimals_are_rounded_half_away_from_zero_as_browsers_do(value):
    exact = Decimal(value).quantize(Decimal("0.0001"), ROUND_HALF_UP)
    assert number(value).replace("−", "-") == f"{exact:f}".replace("-0.0000", "0.0000")


# The working of a number: its rows as they are shown, which add up


def rows_of(work: Working) -> list[Sequence[str]]:
    """The cells of all rows as they are sent, the name first, after those the total."""
    (table,) = sent_as(work.content()).header["tables"]
    return [*table["lines"], *filter(None, [table["total"]])]


def test_shares_halfway_between_two_are_read_as_browsers_write_them():
    halves = {(0.125, 0): "13 %", (0.135, 0): "14 %", (0.00125, 2): "0.13 %", (0.124, 0): "12 %"}
    assert {case: percent(*case) for case in halves} == halves
    assert fixed(-2.5, 0) == "−3"
    assert fixed(-0.25, 0) == "0"


def test_a_working_without_columns_is_its_text_and_without_a_total_has_no_last_row():
    header = sent_as(Working("It is < itself.").content()).header
    assert header == {"text": "It is < itself.", "folded": False, "tables": []}
    assert rows_of(Working("w", ["a"], {"q": [1.0]})) == [["a", "1"]]


def test_several_columns_add_up_where_their_totals_are_given_whatever_there_is_in_a_row():
    names, columns = [str(row) for row in range(99)], {"a": ["none"] * 99, "b": [None] * 99}
    *rows, total = rows_of(Working("w", names, columns, totals=["sum", "5", "7"]))
    assert (len(rows), total) == (99, ["sum", "5", "7"])


def long(count: int) -> Working:
    terms = [(-1.0) ** row * (1 + (row * 37) % count) / 7 for row in range(count)]
    columns: dict[str, Any] = {"fate": ["kept"] * count, "weight": [2 * term for term in terms]}
    columns["term"] = terms
    return Working("Long.", [f"t{row}" for row in range(count)], columns, "sum", math.fsum(terms))


@over("count", [MAX_ROWS + 1, 131, 512])
def test_of_more_rows_the_largest_are_shown_and_what_the_others_come_to(count):
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
    assert abs(read(total[-1]) - work.total) <= 0.5e-4


def test_integers_among_integers_are_written_as_such():
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
