"""Work over the lines of a file, cut into shards that a Dask cluster works out.

The file's lines are split into shards of a fixed number of lines. A shard is written under a
temporary name and then renamed into place, `part-<number>-<hash of the settings>.parquet`: what is
there is whole, so a run that was killed goes on where it stopped. Shards are worked out on a Dask
cluster, of processes here or of other machines, and only their numbers come back.

May import: analysis; torch, pyarrow, distributed.
"""

from __future__ import annotations

import csv
import hashlib
import itertools
import json
import os
import secrets
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar, TextIO

import pyarrow as pa
import pyarrow.parquet as pq
import torch

from attention.analysis.cluster import cluster

MAX_BYTES = 1 << 16  # of a line; a longer one is not read
RETRIES = 3  # of a shard that failed


@dataclass(frozen=True)
class Job:
    """Job to work out: everything that the numbers depend on.

    source: the hash of the file; lines: of each shard; schema: of what is written.
    """

    source: str
    lines: int

    schema: ClassVar[pa.Schema]

    @property
    def hash(self) -> str:
        """Of all settings: 12 digits."""
        return hashlib.sha256(json.dumps(asdict(self)).encode()).hexdigest()[:12]

    def name(self, shard: int) -> str:
        """The name of the file of a shard."""
        return f"part-{shard:06}-{self.hash}.parquet"

    def rows(self, number: int, text: str) -> Mapping[str, Sequence[Any]]:
        """Columns of `schema` for a line with its number, or the one row of `problem`."""
        raise NotImplementedError

    def problem(self, number: int, words: str) -> dict[str, list[Any]]:
        """The one row of a line that has no numbers, and why."""
        return {name: [None] for name in self.schema.names} | {"line": [number], "problem": [words]}


@dataclass(frozen=True)
class Shard:
    """Some lines of a file: the first one's number, from 1; where it begins and how long all are,
    in bytes."""

    number: int
    line: int
    offset: int
    lines: int
    size: int


def shards_of(file: Path, lines: int) -> Iterator[Shard]:
    """All shards of a file, `lines` lines each, the last one fewer; read as far as one asks."""
    with file.open("rb") as opened:
        number = line = offset = count = at = 0
        for length, ended in _lengths(opened):
            at += length
            if ended:
                count += 1
            if count == lines:
                yield Shard(number, line + 1, offset, count, at - offset)
                number, line, offset, count = number + 1, line + count, at, 0
        if count:
            yield Shard(number, line + 1, offset, count, at - offset)


def _lengths(opened: Any) -> Iterator[tuple[int, bool]]:
    """The length of each line in bytes, and whether it ends there; a long one comes in parts."""
    while part := opened.readline(MAX_BYTES):
        ended = part.endswith(b"\n") or not opened.peek(1)
        yield len(part), ended


def texts_of(file: Path, shard: Shard) -> Iterator[tuple[int, str, str]]:
    """The lines of a shard: number, text, and the reason why it has none, "" where it has one."""
    with file.open("rb") as opened:
        opened.seek(shard.offset)
        for number in range(shard.line, shard.line + shard.lines):
            part, length = opened.readline(MAX_BYTES), 0
            whole = part
            while part and not part.endswith(b"\n"):
                length += len(part)
                part = opened.readline(MAX_BYTES)
            if length > MAX_BYTES - 1:
                yield number, "", f"too long: more than {MAX_BYTES:,} bytes"
                continue
            try:
                text = whole.rstrip(b"\r\n").decode("utf-8")
            except UnicodeDecodeError as error:
                said = f"not text in UTF-8: byte 0x{whole[error.start]:02X} at {error.start}"
                yield number, "", said
                continue
            yield number, text, "" if text.strip() else "empty"


def work(file: Path, folder: Path, job: Job, shard: Shard) -> int:
    """Work out a shard and put it in its place; the number of lines.

    The only thing that runs in another process, or on another machine that sees both folders.
    Raises OSError where it cannot be written; then nothing of it is left.
    """
    torch.set_num_threads(1)
    name = job.name(shard.number)
    made = folder / f".{name}.{os.getpid()}-{secrets.token_hex(4)}"
    try:
        with pq.ParquetWriter(made, job.schema) as writer:
            for number, text, reason in texts_of(file, shard):
                rows = job.problem(number, reason) if reason else job.rows(number, text)
                writer.write_table(pa.table(rows, schema=job.schema))
        made.replace(folder / name)
    finally:
        made.unlink(missing_ok=True)
    return shard.lines


def run(
    file: Path, folder: Path, job: Job, out: TextIO, workers: int = 1, address: str | None = None
) -> None:
    """Work out all shards that are not there yet, on a Dask cluster: that at an address, or one of
    so many workers here.

    Workers see the file and the folder as they are here and have this package; one that dies on
    the way leaves its shards to the others. Raises OSError where they cannot be written,
    RuntimeError where workers die over a shard again and again, and ValueError without Dask.
    """
    file, folder = file.resolve(), folder.resolve()
    way = ProgressLine(file, folder, job, out)
    shards, running = way.missing(), dict[Any, Shard]()
    with cluster(workers, address) as client:
        from distributed import KilledWorker, as_completed

        threads = max(1, sum(client.nthreads().values()))

        def begin() -> Iterator[Any]:
            """Further shards: one for each thread, and one that waits for it."""
            for shard in itertools.islice(shards, max(0, 2 * threads - len(running))):
                future = client.submit(work, file, folder, job, shard, pure=False, retries=RETRIES)
                running[future] = shard
                yield future

        completed = as_completed([*begin()])
        for future in completed:
            shard = running.pop(future)
            try:
                future.result()
                way.report(shard)
            except KilledWorker as error:
                last = shard.line + shard.lines - 1
                raise RuntimeError(
                    f"lines {shard.line} to {last}: workers were killed again and again"
                ) from error
            for another in begin():
                completed.add(another)
    way.sweep()
    way.end()


class ProgressLine:
    """Progress through a file: what of it is missing, and lines that tell."""

    def __init__(self, file: Path, folder: Path, job: Job, out: TextIO) -> None:
        self.file, self.folder, self.job, self.out = file, folder, job, out
        self.lines = self.bytes = 0  # that are done
        self.size = max(1, file.stat().st_size)

    def missing(self) -> Iterator[Shard]:
        """The shards that are not there yet."""
        return (shard for shard in shards_of(self.file, self.job.lines) if not self._has(shard))

    def _has(self, shard: Shard) -> bool:
        """True if a shard is there; counts it if it is."""
        there = (self.folder / self.job.name(shard.number)).exists()
        if there:
            self._count(shard)
        return there

    def sweep(self) -> None:
        """Take away what processes have left that were killed."""
        for left in self.folder.glob(f".part-*-{self.job.hash}.parquet.*"):
            left.unlink(missing_ok=True)

    def _count(self, shard: Shard) -> None:
        self.lines += shard.lines
        self.bytes += shard.size

    def report(self, shard: Shard) -> None:
        """Tell in one line how far it is, when a shard is done; shards end in any order."""
        self._count(shard)
        share = min(1.0, self.bytes / self.size)
        bar = "█" * round(20 * share)
        words = f"\r{bar:░<20} {share:4.0%}  {self.lines:,} lines"
        print(words, end="", file=self.out, flush=True)

    def end(self) -> None:
        """Tell how many lines are done."""
        print(f"\r{self.lines:,} lines", file=self.out)


def parts_of(folder: Path, job: Job) -> list[Path]:
    """The files of all shards, in their order."""
    return sorted(folder.glob(f"part-*-{job.hash}.parquet"))


def problems(folder: Path, job: Job, out: Path) -> int:
    """Write the lines that have a word said of them as CSV; how many there are."""
    names = ["line", "problem"]
    tables = (pq.read_table(part, columns=names) for part in parts_of(folder, job))
    rows = (row for table in tables for row in table.to_pylist() if row["problem"] is not None)
    return _write_csv(out, names, rows)


def as_csv(parts: Sequence[Path], out: Path, schema: pa.Schema) -> None:
    """Rows of Parquet files as CSV."""
    batches = (batch for part in parts for batch in pq.ParquetFile(part).iter_batches())
    _write_csv(out, schema.names, (row for batch in batches for row in batch.to_pylist()))


def _write_csv(out: Path, names: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> int:
    """Write rows as CSV, put in its place when it is whole; how many there are."""
    made, count = out.with_name(f".{out.name}.{os.getpid()}"), 0
    with made.open("w", newline="", encoding="utf-8") as opened:
        writer = csv.DictWriter(opened, names)
        writer.writeheader()
        for row in rows:
            writer.writerow(row)
            count += 1
    made.replace(out)
    return count


def hash_of(file: Path) -> str:
    """The SHA-256 of a file."""
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def status(work: Callable[[], str]) -> int:
    """Exit status of a command: 0 after the line that its work ends with, 1 after the reason why it
    could not be done."""
    try:
        line = work()
    except (OSError, ValueError, RuntimeError) as error:
        print(f"\nnot done: {error}; what is done is kept, run it again to go on", file=sys.stderr)
        return 1
    print(line, file=sys.stderr)
    return 0
