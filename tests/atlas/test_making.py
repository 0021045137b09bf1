"""The command that makes passports: resumed, the same bytes again, and each one recomputed."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path
from typing import Any

import msgspec
import pytest

from attention.atlas import __main__ as command
from attention.atlas import effects, files, making
from attention.atlas.__main__ import ProgressLine
from attention.atlas.making import Wanted
from attention.atlas.passport import Atlas
from attention.trained import sources
from tests.atlas.test_files import numbers
from tests.trained.making import write_checkpoint
from tests.trained.packaged import packaged

LINES = [f"{one} b c {one} {two} d {one}" for one in "xyz" for two in "efgh"]
NO_LAST_BIT = 1e-4  # relative: another processor rounds in another order


@pytest.fixture
def sentences(tmp_path: Path) -> Path:
    file = tmp_path / "lines.txt"
    file.write_text("\n".join(LINES), "utf-8")
    return file


def run(folder: Path, sentences: Path, *more: str, out: str = "made") -> int:
    """Run the command on the model that was built by hand."""
    made = folder / out
    words = ["constructed", "--sentences", sentences, "--folder", folder / "work", "--out", made]
    return command.main([*map(str, words), *more])


def test_a_second_run_and_one_that_was_stopped_write_the_same_bytes(
    tmp_path, sentences, monkeypatch, capsys
):
    measured, told = [], ProgressLine.told

    def stopping(way: ProgressLine, part: str, done: int, of: int) -> None:
        told(way, part, done, of)
        measured.append(part)
        if len(measured) == 7:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(ProgressLine, "told", stopping)
        assert run(tmp_path, sentences) == command.STOPPED
    assert f"kept in {tmp_path / 'work'}: the same command goes on" in capsys.readouterr().err
    kept = {file: file.stat().st_mtime_ns for file in (tmp_path / "work").rglob("*.safetensors")}
    assert len(kept) == 7
    assert run(tmp_path, sentences) == 0
    assert "constructed.json.gz: 4 heads" in capsys.readouterr().out
    assert {file: file.stat().st_mtime_ns for file in kept} == kept
    first = (tmp_path / "made" / "constructed.json.gz").read_bytes()
    assert run(tmp_path, sentences, out="again") == 0
    assert (tmp_path / "again" / "constructed.json.gz").read_bytes() == first
    (tmp_path / "work").rename(tmp_path / "elsewhere")
    assert run(tmp_path, sentences, out="anew") == 0
    assert (tmp_path / "anew" / "constructed.json.gz").read_bytes() == first
    atlas = files.decoded(first, Atlas)
    assert atlas.command == "python -m attention.atlas constructed --sentences lines.txt"
    assert str(tmp_path) not in msgspec.json.encode(atlas).decode()
    assert len(atlas.sentences) == len(atlas.prompts) == len(LINES) - len(LINES) // 5


def test_workers_of_a_cluster_measure_the_same_bytes(tmp_path, sentences):
    pytest.importorskip("distributed", reason="needs distributed (requirements-dev.txt)")
    assert run(tmp_path, sentences) == 0
    one = (tmp_path / "made" / "constructed.json.gz").read_bytes()
    (tmp_path / "work").rename(tmp_path / "elsewhere")
    assert run(tmp_path, sentences, "--workers", "2", out="together") == 0
    assert (tmp_path / "together" / "constructed.json.gz").read_bytes() == one


def without_ties(part: Any) -> Any:
    """Plain data with the greatest weight of each row in place of the row: rounding chooses one of
    rows that are alike, as a built model has them."""
    if isinstance(part, dict):
        if "weights" in part:
            return max(part["weights"])
        return {name: without_ties(each) for name, each in part.items()}
    return [*map(without_ties, part)] if isinstance(part, list | tuple) else part


def same(one: Any, other: Any) -> None:
    """Fail where two parts differ by more than a processor's way of rounding."""
    expected, found = (numbers(without_ties(msgspec.to_builtins(part))) for part in (one, other))
    assert found == pytest.approx(expected, rel=NO_LAST_BIT, abs=1e-5)


def test_packaged_passports_are_made_again_by_the_command(tmp_path):
    assert (
        command.main(["constructed", *("--folder", f"{tmp_path}"), *("--out", f"{tmp_path}")]) == 0
    )
    expected, made = (
        files.read(folder["constructed"]) for folder in (files.packaged(), files.within(tmp_path))
    )
    assert (made.weights, made.sentences) == (expected.weights, expected.sentences)
    same(expected.prompts, made.prompts)
    for one, again in zip(expected.passports, made.passports, strict=True):
        same(one, again)


def test_packaged_effects_and_rows_of_attention_are_measured_again():
    model = "minilm"
    packaged(model)
    subject, atlas = Wanted(model).subject(), files.read(files.packaged()[model])
    (asked,) = subject.corpus.prompts[7:8]
    found = effects.OnAnswers().measure(subject, asked)["corpus"].tolist()
    same([one.effects.by_mean[7] for one in atlas.passports], found)
    for one in atlas.passports[:: len(atlas.passports) // 5]:
        row = one.rows[0]
        run = subject.model.run(atlas.sentences[row.sentence].text)
        weights = run.inputs[one.layer].trace().weights[one.head, row.query]
        same(list(row.weights), weights.tolist())


def test_weights_are_told_by_their_files_or_else_by_their_numbers(tmp_path):
    built = Wanted("constructed")
    subject = built.subject()
    assert making.weights_of(built, subject) == subject.weights
    own = Wanted(str(write_checkpoint(tmp_path / "tiny", "gpt2").folder))
    assert own.name == "tiny"
    lines = [
        f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n"
        for file in sorted((tmp_path / "tiny").iterdir())
    ]
    assert len(lines) > 2
    expected = hashlib.sha256("".join(lines).encode()).hexdigest()
    assert making.weights_of(own, subject) == expected
    if "smollm2" in sources.names():
        pinned = sources.SMOLLM2.hashes[sources.SMOLLM2_FILE]
        assert making.weights_of(Wanted("smollm2"), subject) == pinned


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nowhere/at-all"], "not done: "),
        (["base=a,b"], "each model must be named alone, without base= or tuned=, got 'base=a,b'"),
        (["constructed", "--workers", "0"], "workers must be at least 1, got 0"),
        (["constructed", "--sentences", "short.txt"], "at least 12 lines of text, got 1"),
        (["constructed", "--sentences", "bytes.txt"], "bytes.txt must be text in UTF-8"),
        (["constructed", "--sentences", "none.txt"], "No such file"),
    ],
)
def test_what_cannot_be_done_is_told_in_a_line(words, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    (tmp_path / "short.txt").write_text("a b", "utf-8")
    (tmp_path / "bytes.txt").write_bytes(b"\xff\xfe\x00")
    assert command.main(words) == 1
    assert said in capsys.readouterr().err


def test_the_schema_is_printed_as_it_is_published(capsys):
    assert command.main(["--schema"]) == 0
    file = Path(__file__).parents[2] / "docs" / "_static" / "atlas.schema.json"
    assert capsys.readouterr().out == file.read_text("utf-8")


def test_the_line_of_progress_says_how_long_its_part_will_take():
    out, clock = io.StringIO(), iter([0.0, 30.0, 60.0, 400.0])
    way = ProgressLine(out, lambda: next(clock))
    for done in (1, 2, 3, 4):
        way.told("m, effects", done, 4)
    way.end()
    told = [line.strip() for line in out.getvalue().replace("\n", "").split("\r")[1:]]
    assert told == [
        "m, effects: 1 of 4",
        "m, effects: 2 of 4, 0:01:00 left",
        "m, effects: 3 of 4, 0:00:30 left",
        "m, effects: 4 of 4, in 0:06:40",
    ]
