"""The command for a whole file: no line lost, none doubled, a word on each that is not text."""

from __future__ import annotations

import csv
import errno
import io
import re
import sys
from collections import Counter
from multiprocessing import active_children
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import torch

from attention import associations as command
from attention.analysis import cluster
from attention.analysis.associations import associate
from attention.associations import Associations
from attention.shards import Job, ProgressLine, Shard, hash_of, parts_of, shards_of, texts_of, work
from tests.trained.packaged import packaged

LINES = ["The cat sat.", "It ran.", "The cat ran.", "A dog sat.", "The dog ran home."]


@pytest.fixture
def minilm(monkeypatch: pytest.MonkeyPatch) -> None:
    """The model of this process, read once for all tests."""
    read = command.model_of
    monkeypatch.setattr(
        command, "model_of", lambda name: packaged(name) if name == "minilm" else read(name)
    )


def written(folder: Path, content: bytes) -> Path:
    file = folder / "sentences.txt"
    file.write_bytes(content)
    return file


def job_of(file: Path, method: str = "raw-mean", lines: int = 2) -> Job:
    return Associations(hash_of(file), lines, "minilm", method, 5)


def rows_of(folder: Path, job: Job) -> list[dict[str, Any]]:
    return [row for part in parts_of(folder, job) for row in pq.read_table(part).to_pylist()]


def test_progress_grows_to_the_whole_file_in_whatever_order_shards_end(tmp_path):
    file, told = written(tmp_path, "\n".join(LINES).encode()), io.StringIO()
    way = ProgressLine(file, tmp_path, job_of(file), told)
    for shard in reversed([*shards_of(file, 2)]):
        way.report(shard)
    first, second, last = map(int, re.findall(r"(\d+)%", told.getvalue()))
    assert first <= second <= last == 100


def test_shards_have_a_fixed_number_of_lines_whatever_is_in_them(tmp_path):
    long = b"x" * 200_001
    file = written(tmp_path, b"one\n\n" + long + b"\n\xff\nfive")
    found = [*shards_of(file, 2)]
    middle = 200_002 + 2
    assert found == [Shard(0, 1, 0, 2, 5), Shard(1, 3, 5, 2, middle), Shard(2, 5, 5 + middle, 1, 4)]
    lines = [line for shard in found for line in texts_of(file, shard)]
    assert lines == [
        (1, "one", ""),
        (2, "", "empty"),
        (3, "", "too long: more than 65,536 bytes"),
        (4, "", "not text in UTF-8: byte 0xFF at 0"),
        (5, "five", ""),
    ]
    assert [*shards_of(written(tmp_path, b""), 2)] == []
    assert [shard.lines for shard in shards_of(written(tmp_path, b"a\nb\n"), 2)] == [2]


@pytest.mark.usefixtures("minilm")
def test_a_shard_has_the_associations_of_the_words_of_its_lines(tmp_path):
    file = written(tmp_path, b"unhappiest cats\n")
    job = job_of(file)
    work(file, tmp_path, job, Shard(0, 1, 0, 1, 1))
    rows = rows_of(tmp_path, job)
    model = packaged("minilm")
    run = model.run("unhappiest cats")
    weights = associate(model, run.pieces, "raw-mean")[5]
    pieces = [at for at, word in enumerate(run.pieces.words) if word == 0]
    assert len(pieces) > 1
    words = ["[CLS]", "unhappiest", "cats", "[SEP]"]
    assert [row["key word"] for row in rows[:4]] == words
    assert [row["query word"] for row in rows[::4]] == words
    expected = float(weights[pieces][:, pieces].sum(1).mean())
    assert rows[5]["association"] == pytest.approx(expected, rel=1e-5)
    assert rows[1]["association"] == pytest.approx(float(weights[0, pieces].sum()), rel=1e-5)


@pytest.mark.usefixtures("minilm")
def test_each_line_that_is_no_sentence_has_a_word_and_the_rest_is_done(tmp_path):
    content = b"The cat sat.\n\n\xe9t\xe9\n" + b"word " * 10_000 + b"\n...\n\x00\nIt ran.\n"
    file = written(tmp_path, content)
    job = job_of(file, lines=100)
    work(file, tmp_path, job, *shards_of(file, 100))
    assert command.problems(tmp_path, job, tmp_path / "problems.csv") == 4
    with (tmp_path / "problems.csv").open(encoding="utf-8") as opened:
        _, *said = csv.reader(opened)
    assert said == [
        ["2", "empty"],
        ["3", "not text in UTF-8: byte 0xE9 at 0"],
        ["4", f"cut: {10_002 - packaged('minilm').limit:,} pieces did not fit"],
        ["6", "no words"],
    ]
    lines = {row["line"] for row in rows_of(tmp_path, job) if row["association"] is not None}
    assert lines == {1, 4, 5, 7}


@pytest.mark.usefixtures("minilm")
def test_pairs_have_count_mean_and_interval_over_the_whole_file(tmp_path, monkeypatch):
    file = written(tmp_path, "\n".join(LINES).encode())
    job = job_of(file)
    for shard in shards_of(file, 2):
        work(file, tmp_path, job, shard)
    of_pair = [
        row["association"]
        for row in rows_of(tmp_path, job)
        if (row["query word"], row["key word"]) == ("the", "cat")
    ]
    assert len(of_pair) == 2
    tables = []
    for most in (1 << 20, 10):  # all at once, and some pairs after the others
        monkeypatch.setattr(command, "MAX_PAIRS", most)
        command.pairs(tmp_path, job, tmp_path / "pairs.parquet", tmp_path / "pairs.csv")
        tables.append(pq.read_table(tmp_path / "pairs.parquet").to_pylist())
    by_pair, again = (
        {(row["query word"], row["key word"]): row for row in table} for table in tables
    )
    assert repr(by_pair) == repr({pair: again[pair] for pair in by_pair})  # NaN too
    assert len(tables[1]) == len(again) == len(by_pair)
    found, numbers = by_pair["the", "cat"], torch.tensor(of_pair, dtype=torch.float64)
    mean, half = float(numbers.mean()), 1.96 * float(numbers.std()) / 2**0.5
    expected = [2, mean, mean - half, mean + half]
    assert [found[name] for name in ("count", "mean", "from", "to")] == pytest.approx(expected)
    with (tmp_path / "pairs.csv").open(encoding="utf-8") as opened:
        assert len([*csv.reader(opened)]) == len(tables[1]) + 1


@pytest.mark.usefixtures("minilm")
def test_a_full_disk_leaves_nothing_half_and_the_command_says_so(tmp_path, monkeypatch, capsys):
    file, out = written(tmp_path, b"The cat sat.\n"), tmp_path / "out"
    out.mkdir()

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", full)
        with pytest.raises(OSError, match="No space left"):
            work(file, out, job_of(file), Shard(0, 1, 0, 1, 1))
    assert [*out.iterdir()] == []
    monkeypatch.setattr(command, "run", full)
    assert command.main([str(file), "-o", str(out)]) == 1
    assert "not done: [Errno 28] No space left on device; what is done" in capsys.readouterr().err


@pytest.mark.usefixtures("minilm")
def test_what_cannot_be_done_is_said_in_a_line(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(command, "methods_for", lambda _: ["rollout"])
    file = str(written(tmp_path, b"The cat sat.\n"))
    out = str(tmp_path / "out")
    cases = {
        ("--model", "nobody"): "the model must be one of",
        ("--method", "alti"): "alti needs a layout that is known, minilm has none",
        ("--layer", "6"): "layer must be one of 6, counted from 0, got 6",
        ("--lines", "0"): "lines and workers must be at least 1",
    }
    for options, words in cases.items():
        assert command.main([file, "-o", out, *options]) == 1
        assert words in capsys.readouterr().err
    assert command.main([file + "x", "-o", out]) == 1
    assert "No such file" in capsys.readouterr().err


@pytest.mark.soak
def test_a_killed_worker_and_a_second_run_lose_and_double_no_line(tmp_path):
    """One worker is killed as soon as a shard is done; what is there is not worked out again, not
    on another cluster either."""
    distributed = pytest.importorskip("distributed", reason="needs Dask (requirements-dev.txt)")
    packaged("minilm")
    lines = LINES * 2
    file, out = written(tmp_path, "\n".join(lines).encode()), tmp_path / "out"
    out.mkdir()
    job = job_of(file, lines=1)
    killed: list[int | None] = []

    class Watching(io.StringIO):
        def write(self, text: str) -> int:
            if "░" in text and not killed:
                worker = active_children()[0]
                killed.append(worker.pid)
                worker.kill()
            return super().write(text)

    said = Watching()
    command.run(file, out, job, said, workers=2)
    assert killed
    assert said.getvalue().endswith(f"{len(lines)} lines\n")
    parts = parts_of(out, job)
    assert len(parts) == len(lines)
    assert sorted(out.iterdir()) == parts
    rows = rows_of(out, job)
    numbers = Counter((row["line"], row["query"], row["key"]) for row in rows)
    assert {*numbers.values()} == {1}
    assert {line for line, _, _ in numbers} == {*range(1, len(lines) + 1)}

    parts[3].unlink()
    (out / f".{parts[3].name}.7").write_bytes(b"half")
    before = {part: part.stat().st_mtime_ns for part in parts if part.exists()}
    with distributed.LocalCluster(processes=False, n_workers=1, dashboard_address=None) as other:
        command.run(file, out, job, io.StringIO(), address=other.scheduler_address)
    assert sorted(out.iterdir()) == parts
    assert {part: part.stat().st_mtime_ns for part in before} == before
    assert rows_of(out, job) == rows


def test_a_cluster_that_is_not_there_is_said_in_a_line(tmp_path, monkeypatch, capsys):
    pytest.importorskip("distributed", reason="needs Dask (requirements-dev.txt)")
    packaged("minilm")
    monkeypatch.setattr(cluster, "CONNECT", "0.2s")
    file = written(tmp_path, b"The cat sat.\n")
    options = [str(file), "-o", str(tmp_path / "out"), "--cluster", "tcp://127.0.0.1:9"]
    assert command.main(options) == 1
    assert "not done: " in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert command.main(options) == 1
    assert "it needs Dask: pip install distributed" in capsys.readouterr().err
