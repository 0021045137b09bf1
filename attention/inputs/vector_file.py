"""An owner's vector file, looked through line by line before torchtext reads it.

torchtext does not say which line it cannot read, takes nan and 1e300 for numbers, and a short first
line for a heading. A line at a time is kept in memory here, whatever the file is like.
"""

from __future__ import annotations

import gzip
import math
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

FEWEST, MOST = (
    3,
    1024,
)  # numbers of a vector: torchtext skips shorter ones, pages do not bear longer
GREATEST = 1e6  # of a number: products of greater ones overflow
LONGEST = 1 << 16  # bytes of a line; 1,024 numbers take some 20,000
TOLD_SECONDS = 3.0
ASKED_EACH = 1000  # lines, whether it is time to tell
BOM = b"\xef\xbb\xbf"
UTF16 = (b"\xff\xfe", b"\xfe\xff")

Report = Callable[[str], None]


class Progress:
    """Tells every few seconds how many lines have been read, and which share of the file."""

    def __init__(self, report: Report, doing: str) -> None:
        self.report, self.doing, self.told = report, doing, time.monotonic()

    def __call__(self, lines: int, share: float) -> None:
        """lines: how many so far; share: of the file, 0 to 1."""
        if time.monotonic() - self.told >= TOLD_SECONDS:
            self.told = time.monotonic()
            self.report(f"{self.doing}: {lines:,} lines, {share:.0%}")


def check(path: Path, report: Report) -> None:
    """Raise ValueError, with the number of the first line that is wrong, unless all are right.

    A line is a word and its numbers, each after one space; the first one may say how many words
    and numbers there are. report: is told how far it is, and of words that are left out.
    """
    said, width, words, left_out, first = None, 0, 0, 0, 0
    for number, line in lines_of(path, Progress(report, f"checking {str(path)!r}")):
        word, *texts = line.rstrip().split(b" ")
        if number == 1 and len(texts) == 1 and word.isdigit() and texts[0].isdigit():
            said, width = int(word), int(texts[0])
            _check_width(f"line 1 says {_numbers(width)} for each word", width)
            continue
        found = f"line {number:,} has {_numbers(len(texts))} after its word"
        width = width or _check_width(found, len(texts))
        if len(texts) != width:
            raise ValueError(f"{found}, those before it {width:,}")
        if not word:
            raise ValueError(f"line {number:,} has no word before its numbers")
        _check_numbers(number, texts)
        words += 1
        try:
            word.decode()
        except UnicodeDecodeError:
            left_out, first = left_out + 1, first or number
    if words == left_out:
        raise ValueError("it has no words" if not words else "none of its words is UTF-8")
    if said not in (None, words):
        raise ValueError(f"line 1 says {said:,} words, {words:,} are there: is the file whole?")
    if left_out:
        report(f"not UTF-8 and left out: {left_out:,} words, first in line {first:,}")


def lines_of(path: Path, progress: Progress) -> Iterator[tuple[int, bytes]]:
    """The lines of a file, unpacked where its name ends in .gz, with their numbers from 1.

    Raises ValueError where a line is too long, or the file cannot be unpacked.
    """
    size, number = path.stat().st_size, 0
    with path.open("rb") as packed, gzip.open(packed) if path.suffix == ".gz" else packed as file:
        try:
            while line := file.readline(LONGEST):
                number += 1
                if number == 1:
                    if line.startswith(UTF16):
                        raise ValueError("it is in UTF-16; save it as UTF-8")
                    line = line.removeprefix(BOM)
                if len(line) == LONGEST:
                    found = f"line {number:,} has more than {LONGEST:,} bytes"
                    _check_width(f"{found} and {MOST:,} numbers", line.count(b" "))
                    raise ValueError(found)
                if number % ASKED_EACH == 0:
                    progress(number, packed.tell() / size)
                yield number, line
        except (EOFError, OSError, zlib.error) as error:
            raise ValueError(f"it cannot be read after line {number:,}: {error}") from error


def _check_width(found: str, width: int) -> int:
    if not FEWEST <= width <= MOST:
        raise ValueError(f"{found}; it must be {FEWEST} to {MOST:,}")
    return width


def _check_numbers(number: int, texts: list[bytes]) -> None:
    """Raise ValueError unless all texts are numbers that can be reckoned with."""
    try:
        if sum(map(abs, map(float, texts))) <= GREATEST:  # almost always; never of a nan
            return
    except ValueError:
        pass
    for position, text in enumerate(texts, 1):
        try:
            value = abs(float(text))
        except ValueError:
            value = math.nan
        if not value <= GREATEST:
            shown = text[:20].decode("utf-8", "backslashreplace")
            raise ValueError(
                f"number {position:,} of line {number:,} must be finite, and at most "
                f"{GREATEST:,.0f} either way, got {shown!r}"
            )


def _numbers(count: int) -> str:
    return "1 number" if count == 1 else f"{count:,} numbers"
