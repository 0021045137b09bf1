"""Documents as data: sections of steps, each with its number and the view that computes it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import yaml

from attention.core.printing import shown
from attention.core.settings import Value, choice

TOLERANCE = 3e-4
KINDS = {
    "printed": "The document’s own number, computed again. Both agree within 3·10⁻⁴, as its inputs "
    "are printed with four decimals.",
    "recovered": "Inputs that it does not print were found by least squares; beside it, how far "
    "its numbers are missed.",
    "claim": "Its numbers were drawn without a seed. The claim is checked on others.",
    "ours": "It prints no number here. This one is from the app.",
}


@dataclass(frozen=True)
class Step:
    """One step of a document, and the view that shows it.

    says: the step in a line; page, link: the view, settings by name; kind: one of `KINDS`;
    numbers: matrices as text, sizes as "2 × 3", or, of a claim, "the same" or "different"; of: the
    matrix or the check of that page, "" = the one that it shows last; at: indices into it;
    residual: greatest distance to what is printed; mistakes: each with a step that shows it.
    """

    says: str
    page: str
    link: Mapping[str, Value]
    kind: str
    numbers: str
    of: str = ""
    at: Sequence[int] = ()
    residual: float | None = None
    mistakes: Sequence[Step] = ()

    def __post_init__(self) -> None:
        """Refuse a kind that is unknown or lacks its residual. Raises ValueError."""
        if self.kind not in KINDS:
            raise ValueError(f"kind must be one of {', '.join(KINDS)}, got {self.kind!r}")
        if (self.kind == "recovered") != (self.residual is not None):
            raise ValueError(f"a residual belongs to what is recovered: {self.says!r}")

    @property
    def address(self) -> str:
        """The link to the view, from the top of the app."""
        return f"{self.page}?{urlencode(self.link, doseq=True)}"

    @property
    def first(self) -> str:
        """The first row of the numbers, four of them at most; sizes and words as they are."""
        if self.numbers[-1].isalpha() or "×" in self.numbers:
            return self.numbers
        cells = re.split("[;|]", self.numbers)[0].split()
        more = "\u2002…" if len(self.numbers.split()) > min(len(cells), 4) else ""
        return shown("\u2002".join(cells[:4])) + more


@dataclass(frozen=True)
class Section:
    """A part of a document under its own title."""

    title: str
    steps: Sequence[Step]


@dataclass(frozen=True)
class Source:
    """A document. name: in links and on the page; title: its own; about: who wrote it, on what."""

    name: str
    title: str
    about: str
    sections: Sequence[Section]


@cache
def files() -> Mapping[str, Path]:
    """The file of each document by its name, which is its first line."""
    every = sorted(Path(__file__).parent.glob("*.yaml"))
    return {file.read_text("utf-8").split("\n")[0].removeprefix("name: "): file for file in every}


@cache
def source(name: str) -> Source:
    """The document of that name. Raises KeyError where there is none."""
    read = yaml.safe_load(files()[name].read_text("utf-8"))
    sections = [
        Section(part["title"], [_step(step) for step in part["steps"]]) for part in read["sections"]
    ]
    return Source(name, read["title"], read["about"], sections)


def _step(read: Mapping[str, Any]) -> Step:
    mistakes = [_step(mistake) for mistake in read.get("mistakes", ())]
    return Step(**{**read, "mistakes": mistakes})


def names() -> tuple[str, ...]:
    """Names of all documents, in the order of their files."""
    return tuple(files())


@dataclass(frozen=True)
class SourceSettings:
    """Settings of the page "Sources"."""

    document: str = choice("PyTorch notebook", "Document", names)
