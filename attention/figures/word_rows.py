"""Rows of numbers in the columns of a sentence, one number for each word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypedDict

import torch
from torch import Tensor

from attention.core.printing import distinct_names
from attention.core.weighing import Weighing
from attention.figures import files
from attention.figures.scene import Figure

MAX_SENT = 1 << 16  # numbers of all queries together; of more only those of the chosen word
Kind = Literal["score", "share", "weight", "signed", "change", "bar"]


@dataclass(frozen=True, eq=False)
class WordRow:
    """A number for each key: (queries, keys), or (1, keys), of the chosen query alone.

    name: stands at the left; beside: at the right, as a unit; kind: a score, on two colours up to
    the greatest of its row; a share from 0 to 1, in percent; a weight from 0 to 1; a signed one
    from -1 to 1; a change of shares, in points; or a size as a bar. allowed: bool, of the same
    shape, False = masked.
    """

    name: str
    numbers: Tensor
    kind: Kind
    beside: str = ""
    allowed: Tensor | None = None

    def of_query(self, query: int) -> WordRow:
        """The row of one query alone."""
        if len(self.numbers) == 1:
            return self
        part = slice(query, query + 1)
        allowed = None if self.allowed is None else self.allowed[part]
        return replace(self, numbers=self.numbers[part], allowed=allowed)

    @property
    def masked(self) -> Tensor:
        """The numbers as float32, NaN where a mask hides them."""
        numbers = self.numbers.detach().float()
        return numbers if self.allowed is None else numbers.masked_fill(~self.allowed, torch.nan)


def kind_of(*weighings: Weighing) -> Kind:
    """Kind of rows of weights that were made in these ways."""
    if all(one.shares for one in weighings):
        return "share"
    return "signed" if any(one.signed for one in weighings) else "weight"


def sent_rows(rows: Sequence[WordRow], query: int, alone: bool = False) -> list[WordRow]:
    """Rows of all queries, or of one alone where they are too many to send, or `alone` is set."""
    if not alone and sum(row.numbers.numel() for row in rows) <= MAX_SENT:
        return [*rows]
    return [row.of_query(query) for row in rows]


@dataclass(frozen=True)
class Slider:
    """A factor by which the browser multiplies a row of scores anew, at once.

    low, high, step, at: of the factor; of: the row of scores, by its position; to: the row of
    shares that shows their softmax; change: the row of `to` less the first row of shares, None =
    no such row.
    """

    low: float
    high: float
    step: float
    at: float
    label: str
    of: int
    to: int
    change: int | None = None


class WordRowHeader(TypedDict):
    """One row, before its numbers."""

    name: str
    kind: str
    beside: str
    queries: int


class WordRowsHeader(TypedDict):
    """All rows, before their numbers one after the other."""

    tokens: list[str]
    rows: list[WordRowHeader]
    chosen: int
    marked: list[int]
    slider: Slider | None
    label: str
    least: float
    opens: bool
    marks: bool


@dataclass(frozen=True, eq=False)
class WordRows(
    Figure,
    kind="word_rows",
    header=WordRowsHeader,
    row=int,
    cell=tuple[int, int],
    marked=list[int],
    turn=int,
    factor=float,
):
    """Rows of numbers under the words of a sentence; of several queries those of the chosen word.

    Where the sentence stands above in large words, the rows stand in their columns, else below
    words of their own. label: names the figure and its file, with none of a visitor's words;
    chosen: the row with an outline, -1 = none; marked: rows with arcs of a colour of their own;
    least: the smallest share that is written; opens: whether a click on a number answers `cell`,
    its row and key, rather than `row`; marks: whether rows can be marked, which answers `marked`,
    all of them. Page Up and Page Down answer `turn`, -1 or 1; the slider left at a factor answers
    `factor`. Raises ValueError where a row does not have a number for each token.
    """

    tokens: Sequence[str]
    rows: Sequence[WordRow]
    label: str
    chosen: int = -1
    marked: Sequence[int] = ()
    slider: Slider | None = None
    least: float = 0.0
    opens: bool = False
    marks: bool = False

    def __post_init__(self) -> None:
        count = len(self.tokens)
        for row in self.rows:
            shape = tuple(row.numbers.shape)
            if shape not in ((1, count), (count, count)):
                raise ValueError(
                    f"row {row.name!r} must be (1, {count}) or ({count}, {count}), got {shape}"
                )
            if row.allowed is not None and row.allowed.shape != row.numbers.shape:
                raise ValueError(
                    f"allowed of row {row.name!r} must be {shape}, got {tuple(row.allowed.shape)}"
                )
        if self.slider is not None:
            kinds = [self.rows[at].kind for at in (self.slider.of, self.slider.to)]
            if kinds != ["score", "share"]:
                raise ValueError(f"a slider must lead from scores to shares, got {kinds}")

    def has(self, row: int) -> bool:
        """True if there is such a row."""
        return row in range(len(self.rows))

    def has_cell(self, cell: Sequence[int]) -> bool:
        """True if there are such a row and such a key."""
        return self.has(cell[0]) and cell[1] in range(len(self.tokens))

    def content(self) -> bytes:
        rows = [
            WordRowHeader(name=row.name, kind=row.kind, beside=row.beside, queries=len(row.numbers))
            for row in self.rows
        ]
        return self.sent(*(row.masked for row in self.rows), rows=rows)

    def offer(self) -> None:
        if not self.rows:
            return
        words = distinct_names(self.tokens)
        names = [
            row.name if len(row.numbers) == 1 else f"{row.name}, {words[query]}"
            for row in self.rows
            for query in range(len(row.numbers))
        ]
        numbers = torch.cat([row.masked for row in self.rows])
        files.offer_matrix(self.label, numbers, names, words, ~numbers.isnan())
