"""`python -m attention.associations sentences.txt -o folder`: the associations of a whole file.

The file's lines are split into shards of a fixed number of lines. A shard is written under a
temporary name and then renamed into place, `part-<number>-<hash of the settings>.parquet`: what is
there is whole, so a run that was killed goes on where it stopped. Shards are worked out on a Dask
cluster, of processes here or of other machines, and only their numbers come back.

May import: core, analysis, trained; torch, pyarrow, distributed.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import itertools
import json
import math
import os
import secrets
import sys
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TextIO

import pyarrow as pa
import pyarrow.parquet as pq
import torch

from attention.analysis.associations import METHODS, associate, methods_for
from attention.analysis.cluster import cluster
from attention.analysis.words import slots, whole_words
from attention.core.analysis import join
from attention.trained import sources
from attention.trained.models import Model

MAX_BYTES = 1 << 16  # of a line; a longer one is not read
RETRIES = 3  # of a shard that failed
MAX_PAIRS = 1 << 20  # of words that are added up at once
Z_95 = 1.96  # standard errors to each side of a mean

SCHEMA = pa.schema(
    [
        ("line", pa.int64()),
        ("query", pa.int32()),
        ("key", pa.int32()),
        ("query word", pa.string()),
        ("key word", pa.string()),
        ("association", pa.float32()),
        ("problem", pa.string()),
    ]
)
PAIRS = pa.schema(
    [
        ("query word", pa.string()),
        ("key word", pa.string()),
        ("count", pa.int64()),
        ("mean", pa.float64()),
        ("from", pa.float64()),
        ("to", pa.float64()),
    ]
)


@dataclass(frozen=True)
class Job:
    """Job to work out: everything that the numbers depend on.

    source: the hash of the file; layer: which one's, -1: the last; lines: of each shard.
    """

    source: str
    model: str
    method: str
    layer: int
    lines: int

    @property
    def hash(self) -> str:
        """Of all settings: 12 digits."""
        return hashlib.sha256(json.dumps(asdict(self)).encode()).hexdigest()[:12]

    def name(self, shard: int) -> str:
        """The name of the file of a shard."""
        return f"part-{shard:06}-{self.hash}.parquet"


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


def rows_of(model: Model, job: Job, number: int, text: str) -> dict[str, list[Any]]:
    """The associations of one line between its words, as columns of `SCHEMA`."""
    pieces = model.pieces(text)
    if all(pieces.special):
        return problem(number, "no words")
    found = associate(model, pieces, job.method)[job.layer].nan_to_num()
    of_words = slots(pieces.words)
    words = whole_words(pieces.texts, of_words)
    joined = join(found, of_words, of_words)
    count = len(words)
    said = f"cut: {pieces.left_out:,} pieces did not fit" if pieces.left_out else None
    return {
        "line": [number] * count**2,
        "query": [query for query in range(count) for _ in range(count)],
        "key": [*range(count)] * count,
        "query word": [word for word in words for _ in range(count)],
        "key word": [*words] * count,
        "association": joined.flatten().tolist(),
        "problem": [said] + [None] * (count**2 - 1),
    }


def problem(number: int, words: str) -> dict[str, list[Any]]:
    """The one row of a line that has no associations."""
    return {name: [None] for name in SCHEMA.names} | {"line": [number], "problem": [words]}


_MODELS: dict[str, Model] = {}


def work(file: Path, folder: Path, job: Job, shard: Shard) -> int:
    """Work out a shard and put it in its place; the number of lines.

    The only thing that runs in another process, or on another machine that sees both folders.
    Raises OSError where it cannot be written; then nothing of it is left.
    """
    torch.set_num_threads(1)
    if job.model not in _MODELS:
        _MODELS.clear()
        sources.fetch()
        _MODELS[job.model] = sources.load(job.model)
    name = job.name(shard.number)
    made = folder / f".{name}.{os.getpid()}-{secrets.token_hex(4)}"
    try:
        with pq.ParquetWriter(made, SCHEMA) as writer:
            for number, text, reason in texts_of(file, shard):
                if reason:
                    rows = problem(number, reason)
                else:
                    rows = rows_of(_MODELS[job.model], job, number, text)
                writer.write_table(pa.table(rows, schema=SCHEMA))
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
    way = Way(file, folder, job, out)
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


class Way:
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
    count, made = 0, out.with_name(f".{out.name}.{os.getpid()}")
    with made.open("w", newline="", encoding="utf-8") as opened:
        writer = csv.writer(opened)
        writer.writerow(["line", "problem"])
        for part in parts_of(folder, job):
            read = pq.read_table(part, columns=["line", "problem"]).to_pylist()
            for row in read:
                if row["problem"] is not None:
                    writer.writerow([row["line"], row["problem"]])
                    count += 1
    made.replace(out)
    return count


def pairs(folder: Path, job: Job, out: Path, table: Path | None) -> int:
    """Add up the associations of each pair of words over the file; the number of pairs.

    Writes count, mean, and the interval of the mean, ±1.96 standard errors (not a number where a
    pair is seen once), as Parquet and, where table is given, as CSV. Words count in lower case.
    Pairs are added up some after the others, so that memory stays bounded.
    """
    parts = parts_of(folder, job)
    rows = sum(pq.read_metadata(part).num_rows for part in parts)
    groups = max(1, math.ceil(rows / MAX_PAIRS))
    made, total = out.with_name(f".{out.name}.{os.getpid()}"), 0
    with pq.ParquetWriter(made, PAIRS) as writer:
        for group in range(groups):
            sums: dict[tuple[str, str], list[float]] = {}
            for part in parts:
                for batch in pq.ParquetFile(part).iter_batches(columns=SCHEMA.names[3:6]):
                    columns = (column.to_pylist() for column in batch.columns)
                    for query, key, number in zip(*columns, strict=True):
                        if query is None:
                            continue
                        pair = query.lower(), key.lower()
                        if groups > 1 and zlib.crc32("\0".join(pair).encode()) % groups != group:
                            continue
                        found = sums.setdefault(pair, [0, 0.0, 0.0])
                        found[0] += 1  # Welford 1962: sums of squares lose digits
                        change = number - found[1]
                        found[1] += change / found[0]
                        found[2] += change * (number - found[1])
            writer.write_table(_pairs_table(sums))
            total += len(sums)
    made.replace(out)
    if table is not None:
        _as_csv([out], table, PAIRS)
    return total


def _pairs_table(sums: dict[tuple[str, str], list[float]]) -> pa.Table:
    rows = []
    for (query, key), (count, mean, squares) in sorted(sums.items()):
        spread = math.sqrt(squares / (count - 1) / count) if count > 1 else math.nan
        rows.append((query, key, int(count), mean, mean - Z_95 * spread, mean + Z_95 * spread))
    columns = zip(*rows, strict=True) if rows else ([] for _ in PAIRS)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, PAIRS, strict=True)]
    return pa.table(arrays, schema=PAIRS)


def _as_csv(parts: Sequence[Path], out: Path, schema: pa.Schema) -> None:
    """Rows of Parquet files as CSV, put in its place when it is whole."""
    made = out.with_name(f".{out.name}.{os.getpid()}")
    with made.open("w", newline="", encoding="utf-8") as opened:
        writer = csv.writer(opened)
        writer.writerow(schema.names)
        for part in parts:
            for batch in pq.ParquetFile(part).iter_batches():
                writer.writerows(
                    zip(*(column.to_pylist() for column in batch.columns), strict=True)
                )
    made.replace(out)


def hash_of(file: Path) -> str:
    """The SHA-256 of a file."""
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def parser() -> argparse.ArgumentParser:
    """The command's options."""
    made = argparse.ArgumentParser(
        prog="python -m attention.associations",
        description="The associations between the words of each line of a file.",
    )
    made.add_argument("file", type=Path, help="a text file in UTF-8, one sentence a line")
    made.add_argument("-o", "--output", type=Path, required=True, help="the folder for the results")
    made.add_argument("--model", default="minilm", help="a model's name (default: minilm)")
    made.add_argument("--method", default="rollout", choices=[*METHODS], help="default: rollout")
    made.add_argument("--layer", type=int, default=-1, help="after which layer (default: the last)")
    made.add_argument("--lines", type=int, default=64, help="lines of a shard (default: 64)")
    made.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes")
    made.add_argument("--cluster", metavar="ADDRESS", help="of a Dask scheduler, in their place")
    made.add_argument("--csv", action="store_true", help="write CSV beside Parquet")
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; 0, or 1 where it could not be done, with a word on the reason."""
    said = parser().parse_args(arguments)
    try:
        if said.lines < 1 or said.workers < 1:
            raise ValueError("lines and workers must be at least 1")
        sources.fetch()
        model = sources.load(said.model)
        if said.method not in methods_for(model):
            raise ValueError(f"{said.method} needs a layout that is known, {said.model} has none")
        n_layers = sum(not layer.crosses for layer in model.layers)
        if not -n_layers <= said.layer < n_layers:
            raise ValueError(f"layer must be one of {n_layers}, counted from 0, got {said.layer}")
        said.output.mkdir(parents=True, exist_ok=True)
        layer = said.layer % n_layers
        job = Job(hash_of(said.file), said.model, said.method, layer, said.lines)
        run(said.file, said.output, job, sys.stderr, said.workers, said.cluster)
        out = said.output
        table = out / "pairs.csv" if said.csv else None
        n_pairs = pairs(out, job, out / "pairs.parquet", table)
        n_problems = problems(out, job, out / "problems.csv")
        if said.csv:
            _as_csv(parts_of(out, job), out / "associations.csv", SCHEMA)
    except (OSError, ValueError, RuntimeError) as error:
        print(f"\nnot done: {error}; what is done is kept, run it again to go on", file=sys.stderr)
        return 1
    print(f"{n_pairs:,} pairs of words, {n_problems:,} lines with a problem", file=sys.stderr)
    return 0


if __name__ == "__main__":
    from attention.associations import main as by_its_name  # as other processes know it

    sys.exit(by_its_name())
