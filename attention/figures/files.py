"""The numbers a page shows as files: collected while someone wants them, written when asked."""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy
from torch import Tensor

if TYPE_CHECKING:
    from pandas import DataFrame

COPIED = "Copy as Python"  # label of a file that is shown to be copied
FORMULA = ("=", "+", "-", "@")

_collected: ContextVar[list[File] | None] = ContextVar("collected", default=None)


@dataclass(frozen=True, eq=False)
class File:
    """A file to take along: what it is called, its name, and what writes it."""

    label: str
    name: str
    make: Callable[[], str | bytes]


@contextmanager
def collecting() -> Iterator[list[File]]:
    """Collects the files of all that is drawn meanwhile; else nothing of it is kept."""
    files: list[File] = []
    before = _collected.set(files)
    try:
        yield files
    finally:
        _collected.reset(before)


def are_wanted() -> bool:
    """True while files are collected."""
    return _collected.get() is not None


def offer(label: str, name: str, make: Callable[[], str | bytes]) -> None:
    """Offer a file, if they are collected. What is called the same gets a number behind it."""
    files = _collected.get()
    if files is None:
        return
    labels, names = {file.label for file in files}, {file.name for file in files}
    files.append(File(_another(label, ", ", labels), _another(name, ".", names), make))


def _another(text: str, apart: str, taken: set[str]) -> str:
    title, apart, kind = text.rpartition(apart) if apart in text else (text, "", "")
    tries = (f"{title} {number}{apart}{kind}" for number in itertools.count(2))
    return next(one for one in itertools.chain([text], tries) if one not in taken)


def offer_program(make: Callable[[], str]) -> None:
    """Offer a program to be copied, which gives the numbers on screen."""
    offer(COPIED, "program.py", make)


def offer_csv(title: str, make: Callable[[], str], of: str = "") -> None:
    """Offer a CSV file called after what it holds; of: what that belongs to, where a page has
    several of its kind, as "head 2". A word begins with a capital, a symbol stays as it is."""
    offer(f"{_label(title, of)}, CSV", f"{slug(f'{title} {of}')}.csv", make)


def offer_frame(title: str, make: Callable[[], DataFrame], of: str = "") -> None:
    """Offer a table of pandas as CSV and as Parquet; title, of: as in `offer_csv`."""

    def csv() -> str:
        frame = make()
        texts = {
            str(name): [_safe(cell) if isinstance(cell, str) else cell for cell in frame[name]]
            for name in frame
            if frame[name].dtype.kind == "O"
        }
        titles = [_safe(str(name)) for name in frame]
        return frame.assign(**texts).to_csv(index=False, header=titles, lineterminator="\n")

    label, name = _label(title, of), slug(f"{title} {of}")
    offer(f"{label}, CSV", f"{name}.csv", csv)
    offer(f"{label}, Parquet", f"{name}.parquet", lambda: make().to_parquet(index=False))


def _label(title: str, of: str) -> str:
    if re.match(r"[a-z]{2,}(?![\w.(])", title):
        title = title[0].upper() + title[1:]
    return (f"{title} · {of}" if of else title)[:60]


def offer_matrix(
    title: str,
    numbers: Tensor,
    rows: Sequence[str] = (),
    columns: Sequence[str] = (),
    allowed: Tensor | None = None,
    of: str = "",
) -> None:
    """Offer a matrix (rows, columns) as CSV. allowed: bool, False = masked, written as nothing.

    rows, columns: a name each, or none where they are counted from 0; of: as in `offer_csv`.
    """

    def make() -> str:
        cells = numbers.detach().numpy()
        hidden = None if allowed is None else (~allowed).expand(numbers.shape).numpy()
        lines = [
            [
                "" if hidden is not None and hidden[row, column] else cell
                for column, cell in enumerate(line)
            ]
            for row, line in enumerate(cells)
        ]
        names = [str(row) for row in range(len(cells))]
        across = [str(column) for column in range(cells.shape[1])]
        return written(rows or names, columns or across, lines)

    offer_csv(title, make, of)


def offer_table(
    title: str,
    names: Sequence[str],
    columns: Mapping[str, Sequence[object]],
    total: Sequence[object] = (),
) -> None:
    """Offer a table as CSV: a line per name, its columns by title, last the totals."""

    def make() -> str:
        lines = list(zip(*columns.values(), strict=True))
        all_names = list(names)
        if total:
            name, *cells = total
            all_names, lines = [*all_names, str(name)], [*lines, tuple(cells)]
        return written(all_names, list(columns), lines)

    offer_csv(title, make)


def first_words(sentence: str) -> str:
    """A sentence up to its first stop or comma, as a title."""
    return re.split(r"[.,:;](?: |$)", sentence, maxsplit=1)[0]


def written(
    names: Sequence[str],
    columns: Sequence[str],
    lines: Sequence[Sequence[object]],
    title: str = "",
) -> str:
    """CSV with a line per name. Numbers are written in full: as many digits as tell them apart.

    title: that of the names. No text begins as a formula does, which a spreadsheet would run: an
    apostrophe goes before it.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(_safe, [title, *columns]))
    for name, line in zip(names, lines, strict=True):
        writer.writerow([_safe(name), *map(_cell, line)])
    return text.getvalue()


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return _safe(value)
    return str(value.item() if isinstance(value, numpy.integer) else value)


def _safe(text: str) -> str:
    text = re.sub(r"[\x00-\x1f\x7f]", " ", text)
    return re.sub(rf"(^|;)(?=\s*[{re.escape(''.join(FORMULA))}])", r"\1'", text)


def slug(title: str) -> str:
    """A title as the name of a file; formulas keep the signs that tell them apart."""
    return re.sub(r"[^\w()·√÷]+", "-", title.lower().replace(" / ", "÷")).strip("-")[:60]
