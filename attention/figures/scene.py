"""Scenes: figures of a page in order, or several in a row, as data; nothing is drawn here.

A figure is a frozen dataclass of tensors and captions. It says what the module of its kind in
`browser/` is sent (`content`), which of its numbers are to be had as files (`offer`), and what
events may come back, each with the type of what it carries.
"""

from __future__ import annotations

import hashlib
import html
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal, TypedDict

from torch import Tensor

from attention.figures import files
from attention.figures.messages import declare, message
from attention.figures.tables import Cell, written_cells

KINDS: dict[str, type[Figure]] = {}  # of figures, by the name of their module in browser/

Look = Literal["note", "told", "prose", "quiet", "titled", "heading", "info", "differs", "total"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Figure:
    """One figure of a scene.

    key: its name on the page, which its answers and links to it alone go by.

    A kind of figure declares with its class: kind, the name of its module; header, the type of what
    it is sent before numbers, by default its own fields; behind, that of the header of a message
    which comes as the rest of its own; light, whether the page's own style reaches it; answers: the
    type of what each of its events carries.
    """

    kind: ClassVar[str] = ""
    headers: ClassVar[Sequence[type]] = ()
    light: ClassVar[bool] = False
    answers: ClassVar[Mapping[str, Any]] = {}

    key: str = ""

    def __init_subclass__(
        cls,
        *,
        kind: str = "",
        header: type | None = None,
        behind: type | None = None,
        light: bool = False,
        **answers: Any,
    ) -> None:
        super().__init_subclass__()
        if not kind:
            return
        cls.kind, cls.light, cls.answers = kind, light, answers
        cls.headers = [header or cls] if behind is None else [header or cls, behind]
        KINDS[kind] = cls
        for event, answer in answers.items():
            declare(event, answer)

    def content(self) -> bytes:
        """Message to its module: all that its header has."""
        return self.sent()

    def sent(self, *tensors: Tensor, rest: bytes = b"", **made: object) -> bytes:
        """Message with its header, see `messages.message`.

        made: what is made for the header; all else in it is the figure's own, of the same name.
        """
        names = sent_of(self.headers[0])
        if unknown := made.keys() - {*names}:
            raise TypeError(f"the header of {self.kind} has no {sorted(unknown)}")
        header = {name: made[name] if name in made else getattr(self, name) for name in names}
        return message(header, *tensors, rest=rest)

    def offer(self) -> None:
        """Offer its numbers as files, where files are collected."""

    @property
    def words(self) -> str:
        """Its words as HTML, escaped; "" for a figure of numbers."""
        return ""

    @property
    def plots(self) -> bool:
        """True if plotly.js draws it."""
        return False


def sent_of(header: type) -> list[str]:
    """The names in a header; where a figure is its own, those of its fields but the key."""
    if issubclass(header, Figure):
        return [field.name for field in fields(header) if field.name != "key"]
    return [*header.__annotations__]


@dataclass(frozen=True, eq=False)
class Row:
    """Figures side by side, one below the other where there is no room.

    shares: of the width, one for each; none: as wide as they are.
    """

    figures: Sequence[Figure | Column]
    shares: Sequence[float] = ()


@dataclass(frozen=True, eq=False)
class Column:
    """Figures one below the other, within a row."""

    figures: Sequence[Figure]


@dataclass(frozen=True, eq=False)
class Scene:
    """Figures and rows of them, from top to bottom."""

    parts: Sequence[Figure | Row]

    def __post_init__(self) -> None:
        keys = [figure.key for figure in self if figure.key]
        if twice := sorted({key for key in keys if keys.count(key) > 1}):
            raise ValueError(
                f"each figure of a scene must have a key of its own, got {twice} twice"
            )

    def __iter__(self) -> Iterator[Figure]:
        """All figures, in order."""
        for part in self.parts:
            for each in part.figures if isinstance(part, Row) else (part,):
                yield from each.figures if isinstance(each, Column) else (each,)

    def __getitem__(self, key: str) -> Figure:
        for figure in self:
            if figure.key == key:
                return figure
        raise KeyError(f"no figure {key!r}; there are {[figure.key for figure in self]}")


def scene(*parts: Figure | Row | None) -> Scene:
    """A scene of these; None: nothing there."""
    return Scene([part for part in parts if part is not None])


def digest(content: bytes) -> str:
    """A name for a content: another one for any other."""
    return hashlib.blake2b(content, digest_size=8).hexdigest()


# Words


class WordsHeader(TypedDict):
    """Words in a look of the page's style; every second part stands out."""

    look: str
    parts: Sequence[str]
    before: str
    hint: str
    link: Sequence[str]


@dataclass(frozen=True, eq=False)
class Words(Figure, kind="words", header=WordsHeader, light=True):
    """Words, which may be a visitor's: never read as Markdown or HTML.

    text: they, or parts of them of which every second stands out; look: that of a quiet line
    ("note"), plain text ("told"), text in which examples stand out ("prose"), a caption ("quiet"),
    the title of a figure ("titled"), that of a part of the page ("heading"), a word on what is
    missing ("info"), differences of two sides ("differs"), or a total ("total"); before: stands
    before them; hint: what can be done at a screen, which paper leaves out; link: the words and the
    address of a link behind them, none: no link.
    """

    text: str | Sequence[str]
    look: Look = "quiet"
    hint: str = ""
    before: str = ""
    link: Sequence[str] = ()

    @property
    def parts(self) -> list[str]:
        """The words in parts, every second of which stands out."""
        return [self.text] if isinstance(self.text, str) else list(self.text)

    @property
    def words(self) -> str:
        return f"<p class='{self.look}'>{html.escape(''.join(self.parts))}</p>"


def note(text: str) -> Words:
    """A quiet line."""
    return Words(text, "note")


def heading(text: str) -> Words:
    """The title of a part of the page, which a screen reader finds among its headings."""
    return Words(text, "heading")


def titled(title: str, words: str = "", hint: str = "") -> Words:
    """The title of a figure, and further words."""
    return Words(("", title, f" {words}" if words else ""), "titled", hint and f"· {hint}")


@dataclass(frozen=True, eq=False)
class PageButton(Figure, kind="page_button"):
    """A button that leads to a field, with all its text chosen to be typed over.

    field: its CSS selector.
    """

    label: str
    field: str


# Tables


class TableHeader(TypedDict):
    """A table: names of its columns, lines of cells as shown with the name of each first, and the
    cells of a last line."""

    title: str
    columns: Sequence[str]
    lines: Sequence[Sequence[str]]
    total: Sequence[str]
    bars: Sequence[Sequence[float | None]]  # lengths from 0 to 1, in place of plain cells
    links: Sequence[str]  # of the names


@dataclass(frozen=True, eq=False)
class Table(Figure, kind="table", header=TableHeader, light=True):
    """Numbers with one row per name.

    title: what its file is called after, none of a visitor's words; columns: cells by their title;
    total: cells of a last row, its name first; digits: how many decimals are seen, None = as
    `tables.number` has them; shares: whether numbers are from 0 to 1, each with a bar of its
    length; links: an address that each name leads to, or none. The file has all digits.
    """

    title: str
    names: Sequence[str]
    columns: Mapping[str, Sequence[Cell]]
    total: Sequence[str] = ()
    digits: int | None = None
    shares: bool = False
    links: Sequence[str] = ()

    def header(self) -> TableHeader:
        """The table as it is shown."""
        lines = [
            [name, *cells]
            for name, *cells in zip(
                self.names,
                *(written_cells(cells, self.digits) for cells in self.columns.values()),
                strict=True,
            )
        ]
        lengths = zip(*self.columns.values(), strict=True) if self.shares else ()
        return {
            "title": self.title,
            "columns": list(self.columns),
            "lines": lines,
            "total": list(self.total),
            "bars": [
                [None if isinstance(cell, str) else cell for cell in line] for line in lengths
            ],
            "links": list(self.links),
        }

    def content(self) -> bytes:
        return message(self.header())

    def offer(self) -> None:
        files.offer_table(self.title, self.names, self.columns, self.total)
