"""Make passports of all heads of models: where each looks, and what fails without it.

Without a name it makes those that come with the library. What is measured is kept as it goes on, so
that the same command goes on where one was stopped; a second run writes the same files.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TextIO

import torch

from attention.atlas import files, making
from attention.atlas.making import Wanted

COMMAND = "python -m attention.atlas"
KEPT = "atlas-work"
RECENT = 20  # texts that tell how long the others will take
MAX_TEXT = 1 << 22  # bytes of a file of sentences
STOPPED = 130  # exit status after Ctrl-C, as of shells


class ProgressLine:
    """A line that says how far the work is, and how long the rest of its part will take."""

    def __init__(self, out: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._out, self._clock = out, clock
        self._part, self._begun, self._width = "", 0.0, 0
        self._ends: deque[float] = deque()

    def told(self, part: str, done: int, of: int) -> None:
        """Tell that so many of a part are done."""
        now = self._clock()
        if part != self._part:
            self.end()
            self._part, self._begun = part, now
            self._ends = deque(maxlen=RECENT)
        self._ends.append(now)
        words = f"{part}: {done:,} of {of:,}"
        if done < of and len(self._ends) > 1:
            each = (now - self._ends[0]) / (len(self._ends) - 1)
            words += f", {duration(each * (of - done))} left"
        elif done >= of:
            words += f", in {duration(now - self._begun)}"
        self._width = max(self._width, len(words))
        print(f"\r{words:<{self._width}}", end="", file=self._out, flush=True)

    def end(self) -> None:
        """End the line."""
        if self._part:
            print(file=self._out, flush=True)
        self._part, self._width = "", 0


def duration(seconds: float) -> str:
    """A time in hours, minutes and seconds: "0:07:00"."""
    return str(timedelta(seconds=round(seconds)))


def parser() -> argparse.ArgumentParser:
    """The command's options."""
    usual = ", ".join(making.usual())
    made = argparse.ArgumentParser(prog=COMMAND, description=__doc__)
    made.add_argument(
        "models",
        nargs="*",
        metavar="MODEL",
        help=f"a packaged model, a folder, a GGUF file or a name at Hugging Face; default: {usual}",
    )
    made.add_argument(
        "--folder", type=Path, default=Path(KEPT), help=f"for what is measured; default: {KEPT}"
    )
    made.add_argument(
        "--out", type=Path, default=Path(), help="for the files that are made; default: here"
    )
    made.add_argument(
        "--sentences", type=Path, metavar="FILE", help="texts of your own in UTF-8, one a line"
    )
    made.add_argument("--workers", type=int, default=1, help="processes here; default: 1")
    made.add_argument("--scheduler", metavar="ADDRESS", help="of a Dask cluster, in their place")
    made.add_argument("--schema", action="store_true", help="print the JSON Schema of the files")
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; 0, or 1 where it could not be done, with a word on the reason."""
    asked = parser().parse_args(arguments)
    if asked.schema:
        print(json.dumps(files.schema(), indent=1, ensure_ascii=False))
        return 0
    way = ProgressLine(sys.stderr)
    again = f"what is measured is kept in {asked.folder}: the same command goes on"
    try:
        make(asked, way)
    except KeyboardInterrupt:
        way.end()
        print(f"stopped; {again}", file=sys.stderr)
        return STOPPED
    except (OSError, ValueError, RuntimeError) as error:
        way.end()
        print(f"not done: {error}; {again}", file=sys.stderr)
        return 1
    return 0


def make(asked: argparse.Namespace, way: ProgressLine) -> None:
    """Measure each model that is asked for, and write a file of it."""
    if asked.workers < 1:
        raise ValueError(f"workers must be at least 1, got {asked.workers}")
    torch.set_num_threads(1)  # as in every worker
    lines = lines_of(asked.sentences) if asked.sentences else ()
    several = [Wanted(entry, lines) for entry in dict.fromkeys(asked.models or making.usual())]
    twice = [name for name, count in Counter(one.name for one in several).items() if count > 1]
    if twice:
        raise ValueError(f"two models are called {twice[0]}: make them one after the other")
    asked.out.mkdir(parents=True, exist_ok=True)
    command = command_of(several, asked)
    for wanted in several:
        if asked.scheduler or asked.workers > 1:
            making.measure_on(wanted, asked.folder, way.told, asked.workers, asked.scheduler)
        found = making.measure(wanted, asked.folder, way.told)
        way.end()
        atlas = making.atlas_of(wanted, found, command)
        path = files.path_of(asked.out, atlas.model)
        files.write(atlas, path)
        print(f"{path}: {len(atlas.passports)} heads, {path.stat().st_size:,} bytes")


def command_of(several: Sequence[Wanted], asked: argparse.Namespace) -> str:
    """The command that makes the same passports; folders and files by their names alone."""
    words = [wanted.source.about.checkpoint for wanted in several] if asked.models else []
    words = [
        wanted.name if wanted.name == wanted.entry else word
        for wanted, word in zip(several, words, strict=False)
    ]
    if asked.sentences:
        words += ["--sentences", asked.sentences.name]
    return shlex.join([*COMMAND.split(), *words])


def lines_of(file: Path) -> tuple[str, ...]:
    """The lines of a file of sentences. Raises ValueError where it is large or no text."""
    with file.open("rb") as opened:
        content = opened.read(MAX_TEXT + 1)
    if len(content) > MAX_TEXT:
        raise ValueError(f"{file.name} may have up to {MAX_TEXT:,} bytes, it has more")
    try:
        return (*content.decode("utf-8").splitlines(),)
    except UnicodeDecodeError as error:
        raise ValueError(f"{file.name} must be text in UTF-8: {error.reason}") from error


if __name__ == "__main__":
    from attention.atlas.__main__ import main as by_its_name  # as other processes know it

    sys.exit(by_its_name())
