"""Numbers as the cells of tables: what is shown reads back."""

from __future__ import annotations

import math
import re
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

from attention.figures.tables import number, typed
from tests.cases import over
from tests.properties import given, settings
from tests.properties import strategies as st

HALFWAY = st.integers(-3_199_999, 3_199_999).map(lambda count: count / 32)


def read(shown: str) -> float:
    return float(shown.replace("−", "-").replace("∞", "inf"))


@over("value", [0.0, -0.0, 2.0, -1.2345678901234567, 1e-7, -1e10, 0.1])
def test_a_typed_number_keeps_every_digit(value: float) -> None:
    text = typed(value)
    assert float(text.replace("−", "-")) == value
    assert not set(text) & set("-e")
    assert not text.endswith((".0", "."))


def test_text_for_people_has_one_minus_sign_and_one_place_that_writes_it() -> None:
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


def test_four_decimals_or_four_digits_where_these_would_lose_it_halves_rounded_as_browsers_do() -> (
    None
):
    assert {value: number(value) for value in NUMBERS} == NUMBERS
    assert number(-0.0) == "0.0000"


@given(st.floats(1e-3, 99_999) | HALFWAY)
@settings(max_examples=200)
def test_four_decimals_are_rounded_half_away_from_zero_as_browsers_do(value: float) -> None:
    exact = Decimal(value).quantize(Decimal("0.0001"), ROUND_HALF_UP)
    assert number(value).replace("−", "-") == f"{exact:f}".replace("-0.0000", "0.0000")
