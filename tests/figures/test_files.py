"""The numbers of a page as files: CSV, and tables as Parquet too."""

from __future__ import annotations

import csv
import io

import numpy
import pandas
import torch

from attention.figures import files
from tests.cases import over
from tests.hostile import HOSTILE
from tests.properties import given, strategies


def rows(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text)))


def test_nothing_is_kept_while_no_one_collects():
    files.offer("Weights, CSV", "weights.csv", lambda: "")
    with files.collecting() as collected:
        pass
    files.offer("Weights, CSV", "weights.csv", lambda: "")
    assert collected == []


def test_a_matrix_is_written_in_full_with_its_names():
    numbers = torch.tensor([[0.1, 1 / 3], [-2.0, 1e-30]])
    with files.collecting() as collected:
        files.offer_matrix("weights", numbers, ["0 a", "1 b"], ["x", "y"])
    (file,) = collected
    assert (file.label, file.name) == ("Weights, CSV", "weights.csv")
    assert rows(file.make()) == [
        ["", "x", "y"],
        ["0 a", "0.1", "0.33333334"],
        ["1 b", "-2.0", "1e-30"],
    ]
    read = torch.tensor([[float(cell) for cell in line[1:]] for line in rows(file.make())[1:]])
    assert torch.equal(read, numbers)


def test_masked_cells_are_empty_and_names_are_counted_where_there_are_none():
    with files.collecting() as collected:
        files.offer_matrix("q·k", torch.ones(2, 2), allowed=torch.eye(2) > 0)
    assert collected[0].name == "q·k.csv"
    assert rows(collected[0].make()) == [["", "0", "1"], ["0", "1.0", ""], ["1", "", "1.0"]]


def test_a_table_is_written_with_its_totals_and_unrounded():
    with files.collecting() as collected:
        columns = {"weight": [1 / 3], "word": [None]}
        files.offer_table("shares", ["a"], columns, ["sum", "1.0000", ""])
    assert rows(collected[0].make()) == [
        ["", "weight", "word"],
        ["a", "0.3333333333333333", ""],
        ["sum", "1.0000", ""],
    ]


@over(
    "title, of, label, name",
    [
        ("what it adds", "token 1", "What it adds · token 1", "what-it-adds-token-1"),
        ("q·(k / √d_k)", "", "q·(k / √d_k)", "q·(k÷√d_k)"),
        ("torch.bmm(a, b)[0]", "", "torch.bmm(a, b)[0]", "torch-bmm(a-b)-0"),
        ("x", "given", "x · given", "x-given"),
        ("sums[1]", "", "Sums[1]", "sums-1"),
    ],
)
def test_a_file_is_called_after_what_it_holds(title, of, label, name):
    with files.collecting() as collected:
        for _ in range(3):
            files.offer_matrix(title, torch.ones(1, 1), of=of)
    ends = ["", " 2", " 3"]
    assert [file.label for file in collected] == [f"{label}{end}, CSV" for end in ends]
    assert [file.name for file in collected] == [f"{name}{end}.csv" for end in ends]


def test_first_words_of_a_caption_are_a_title():
    assert files.first_words("In float16, with X times 2 = 7.5: lost.") == "In float16"
    assert files.first_words("The rows themselves.") == "The rows themselves"
    assert files.first_words("M is 3.5 wide") == "M is 3.5 wide"


def test_no_text_is_a_formula_to_a_spreadsheet():
    texts = [*HOSTILE, "=1+2", " =1", "+1", "-x", "@sum", "\t=1", "\r=1", "1; =2", "a;@b"]
    written = files.written(texts, texts, [texts for _ in texts])
    for line in rows(written):
        for cell in line:
            for part in cell.split(";"):  # which separates cells in some countries
                assert not part.lstrip().startswith(("=", "+", "-", "@"))
    assert rows(written)[1 + texts.index("=1+2")][0] == "'=1+2"
    with files.collecting() as offered:
        files.offer_frame("a table", lambda: pandas.DataFrame({text: [text] for text in texts}))
    for line in rows(offered[0].make()):
        assert not any(cell.lstrip().startswith(files.FORMULA) for cell in line)


@given(
    rows=strategies.lists(
        strategies.tuples(
            strategies.floats(allow_nan=False, allow_infinity=False, width=32),
            strategies.text(strategies.characters(exclude_categories=["Cs", "Cc"]), max_size=9),
        ),
        min_size=1,
        max_size=7,
    )
)
def test_a_frame_is_offered_with_all_its_digits_and_no_text_that_a_spreadsheet_runs(rows):
    weights, tokens = zip(*rows, strict=True)
    table = pandas.DataFrame({"weight": numpy.array(weights, "float32"), "token": [*tokens]})
    with files.collecting() as offered:
        files.offer_frame("weights of a row", lambda: table)
    csv, parquet = offered
    assert [file.name for file in offered] == ["weights-of-a-row.csv", "weights-of-a-row.parquet"]
    assert pandas.read_parquet(io.BytesIO(parquet.make())).equals(table)
    read = pandas.read_csv(io.StringIO(csv.make()), keep_default_na=False, dtype={"token": str})
    assert (read["weight"].to_numpy("float32") == table["weight"].to_numpy()).all()
    assert not any(text.lstrip().startswith(files.FORMULA) for text in read["token"])
    for text, token in zip(read["token"], tokens, strict=True):
        assert text.removeprefix("'") == token.removeprefix("'")
