"""Heads of one layer, in tables and words: measures, edges worth drawing, additions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from attention.analysis.additions import Additions
from attention.analysis.heads import MEASURES, Overview
from attention.core.printing import fixed, percent
from attention.core.settings import choice, decimal, read_numbers, text


@dataclass(frozen=True)
class HeadSettings:
    """Settings of the rows of heads."""

    cover: float = decimal(
        1.0,
        "Share of each row drawn",
        0.1,
        1.0,
        0.05,
        help="Of every query and head, the strongest edges until they hold this share of its "
        "weight. Nothing is renormalised.",
    )
    active: str = text(
        "",
        "Heads marked",
        200,
        help="Numbers with commas between, as in 0,2,3: their arcs are drawn too.",
    )
    sort: str = choice("head", "Sort by", lambda: ("head", *MEASURES))


def measured_as(seen: Overview, measure: str, head: int) -> str:
    """The number of a measure that a head has, as it stands beside its row; "" for no measure."""
    return fixed(float(seen.measures[measure][head]), 2) if measure else ""


CLICK = "Click one: the arcs above become its own. Mark others beside it."


def rows_words(seen: Overview, measure: str) -> str:
    """Tell what a row is, or in words the measure that sorts the rows."""
    if measure:
        return f"Sorted by {measure}: {MEASURES[measure].words}, on average over the queries."
    return "Each row is a head."


def read_active(text: str, heads: int) -> list[int]:
    """The heads that `text` names, as in "0,2,3", as far as they are there."""
    try:
        return [head for head in read_numbers(text) if head < heads]
    except ValueError:
        return []


def write_active(active: Sequence[int]) -> str:
    """Text that `read_active` reads as these heads."""
    return ",".join(map(str, sorted({*active})))


def additions_table(
    added: Additions,
) -> tuple[list[str], Mapping[str, Sequence[float | str]], list[str]]:
    """Names, columns and last row; see `scene.Table`."""
    length = float(added.output.norm())
    shares = [float(part) / length if length else 0.0 for part in added.along]
    columns: dict[str, Sequence[float | str]] = {
        "length": added.lengths.tolist(),
        f"share of {added.name}": [percent(share, 1) for share in shares],
    }
    return added.names, columns, [added.name, fixed(length, 2), percent(math.fsum(shares), 1)]


def sum_words(added: Additions, token: str) -> str:
    """Name the parts of the sum of a token, in a sentence."""
    bias = ", and of the bias of W_o" if "bias" in added.names else ""
    parts = f"the parts that all heads add{bias}"
    return f"The new vector {added.name} of “{token}” is the sum of {parts}."
