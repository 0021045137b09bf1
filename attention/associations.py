"""`python -m attention.associations sentences.txt -o folder`: the associations of a whole file.

Lines are worked out in shards on a Dask cluster, see `shards`; a run that was killed goes on where
it stopped.

May import: core, analysis, trained, shards; torch, pyarrow.
"""

from __future__ import annotations

import argparse
import functools
import math
import os
import sys
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from attention.analysis.associations import METHODS, associate, methods_for
from attention.analysis.words import slots, whole_words
from attention.core.analysis import join
from attention.shards import (
    Job,
    as_csv,
    hash_of,
    parts_of,
    problems,
    run,
    status,
)
from attention.trained import sources
from attention.trained.models import Model

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
class Associations(Job):
    """Associations to work out. method: one of `METHODS`; layer: after which."""

    model: str
    method: str
    layer: int

    schema = SCHEMA

    def rows(self, number: int, text: str) -> dict[str, list[Any]]:
        """The associations of one line between its words."""
        model = model_of(self.model)
        pieces = model.pieces(text)
        if all(pieces.special):
            return self.problem(number, "no words")
        found = associate(model, pieces, self.method)[self.layer].nan_to_num()
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


@functools.lru_cache(maxsize=1)
def model_of(name: str) -> Model:
    """The model of this process."""
    sources.fetch()
    return sources.load(name)


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
        as_csv([out], table, PAIRS)
    return total


def _pairs_table(sums: dict[tuple[str, str], list[float]]) -> pa.Table:
    rows = []
    for (query, key), (count, mean, squares) in sorted(sums.items()):
        spread = math.sqrt(squares / (count - 1) / count) if count > 1 else math.nan
        rows.append((query, key, int(count), mean, mean - Z_95 * spread, mean + Z_95 * spread))
    columns = zip(*rows, strict=True) if rows else ([] for _ in PAIRS)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, PAIRS, strict=True)]
    return pa.table(arrays, schema=PAIRS)


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
    made.add_argument("--lines", type=int, default=64, help="of a shard (default: 64)")
    made.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes")
    made.add_argument("--cluster", metavar="ADDRESS", help="of a Dask scheduler, in their place")
    made.add_argument("--csv", action="store_true", help="write CSV beside Parquet")
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; 0, or 1 where it could not be done, with a word on the reason."""
    return status(functools.partial(associate_file, parser().parse_args(arguments)))


def associate_file(said: argparse.Namespace) -> str:
    """Work out a file with the command's options; the line that it ends with."""
    if said.lines < 1 or said.workers < 1:
        raise ValueError("lines and workers must be at least 1")
    model = model_of(said.model)
    if said.method not in methods_for(model):
        raise ValueError(f"{said.method} needs a layout that is known, {said.model} has none")
    n_layers = sum(not layer.crosses for layer in model.layers)
    if not -n_layers <= said.layer < n_layers:
        raise ValueError(f"layer must be one of {n_layers}, counted from 0, got {said.layer}")
    said.output.mkdir(parents=True, exist_ok=True)
    layer = said.layer % n_layers
    job = Associations(hash_of(said.file), said.lines, said.model, said.method, layer)
    run(said.file, said.output, job, sys.stderr, said.workers, said.cluster)
    out = said.output
    table = out / "pairs.csv" if said.csv else None
    n_pairs = pairs(out, job, out / "pairs.parquet", table)
    n_problems = problems(out, job, out / "problems.csv")
    if said.csv:
        as_csv(parts_of(out, job), out / "associations.csv", SCHEMA)
    return f"{n_pairs:,} pairs of words, {n_problems:,} lines with a problem"


if __name__ == "__main__":
    from attention.associations import main as by_its_name  # as other processes know it

    sys.exit(by_its_name())
