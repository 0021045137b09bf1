"""Files of passports: the same bytes for the same numbers, types checked, hostile ones refused."""

from __future__ import annotations

import dataclasses
import gzip
import json
import math
import zlib
from typing import Any

import msgspec
import pytest

from attention.atlas import files
from attention.atlas.passport import Atlas, Mean, Row
from tests.atlas import making
from tests.cases import over
from tests.properties import given, settings
from tests.properties import strategies as st


def example(**changed: Any) -> Atlas:
    """A small atlas of two heads, with some of it changed."""
    whole = files.decoded(files.written(making.atlas("m", 1, 2)), Atlas)
    return dataclasses.replace(whole, **changed)


def with_first(atlas: Atlas, **changed: Any) -> Atlas:
    first, *others = atlas.passports
    return dataclasses.replace(atlas, passports=(dataclasses.replace(first, **changed), *others))


def numbers(part: Any) -> list[float]:
    """All numbers of plain data, in their order."""
    if isinstance(part, dict | list | tuple):
        parts = part.values() if isinstance(part, dict) else part
        return [number for each in parts for number in numbers(each)]
    return [part] if isinstance(part, float) else []


@settings(max_examples=25)
@given(st.integers(0, 999).map(making.shaken))
def test_what_is_written_is_read_again_to_six_digits_and_written_again_as_the_same_bytes(atlas):
    packed = files.written(atlas)
    read = files.check(files.decoded(packed, Atlas))
    assert files.written(read) == packed == files.written(atlas)
    plain, again = (msgspec.to_builtins(each) for each in (atlas, read))
    assert numbers(again) == pytest.approx(numbers(plain), rel=5e-6, abs=0)
    assert (again["model"], again["sentences"]) == (plain["model"], plain["sentences"])


def test_a_file_is_the_same_at_any_hour_and_never_half_there(tmp_path):
    path = tmp_path / "m.json.gz"
    files.write(example(), path)
    first = path.read_bytes()
    with pytest.raises(ValueError, match=r"finite, got nan at \$\.passports\[0\]\.sink\.mean"):
        files.write(with_first(example(), sink=Mean(math.nan, 0, 1, 2)), path)
    files.write(example(), path)
    assert path.read_bytes() == first
    assert first[4:8] == bytes(4)
    assert [*tmp_path.iterdir()] == [path]
    assert files.read(path) == example()


def test_a_number_is_rounded_only_in_the_file_and_no_zero_has_a_sign():
    third = with_first(example(), sink=Mean(1 / 3, -0.0, 2 / 3, 2))
    text = gzip.decompress(files.written(third)).decode()
    assert '"sink":{"mean":0.333333,"low":0.0,"high":0.666667,"count":2}' in text
    assert third.passports[0].sink.mean == 1 / 3


def test_a_plain_file_is_read_as_well_as_a_packed_one(tmp_path):
    path = tmp_path / "m.json"
    path.write_bytes(gzip.decompress(files.written(example())))
    assert files.read(path) == example()


def plain(**changed: Any) -> bytes:
    said: dict[str, Any] = json.loads(gzip.decompress(files.written(example())))
    return json.dumps(said | changed).encode()


NOT_ONE = {
    "nothing": (b"", "truncated"),
    "no JSON": (b"\x00\xff", "malformed"),
    "a list": (b"[]", r"Expected `object`, got `array`"),
    "a part missing": (b"{}", r"missing required field `schema`"),
    "a text as a number": (plain(seed="7"), r"Expected `int`, got `str` - at `\$.seed`"),
    "a number without end": (plain().replace(b"0.29", b"1e999"), "out of range"),
    "parts too deep": (plain(more=0).replace(b'"more": 0', b'"m":' + b"[" * 10**6), "too deep"),
    "no UTF-8": (plain(title="T").replace(b'"T"', b'"\xff"'), "utf-8|UTF-8"),
    "another schema": (plain(schema=1), "schema must be 4, got 1"),
    "no heads": (plain(passports=[]), "each once"),
    "cut short": (files.written(example())[:-30], "whole, it ends too early"),
    "damaged": (b"\x1f\x8b" + bytes(40), "not by gzip"),
}


@pytest.mark.parametrize("kind", NOT_ONE)
def test_a_file_that_is_no_atlas_is_refused_with_what_was_expected(kind, tmp_path):
    content, words = NOT_ONE[kind]
    path = tmp_path / "m.json.gz"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=words) as refused:
        files.read(path)
    assert str(refused.value).startswith("m.json.gz must be an atlas of heads: ")


def test_a_file_that_grows_as_it_is_unpacked_is_refused_before_it_has(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MAX_BYTES", 1 << 16)
    monkeypatch.setattr(files, "MAX_PACKED", 1 << 12)
    for content, words in (
        (zlib.compress(bytes(1 << 20), wbits=31), "unpacked it may have up to 65,536 bytes"),
        (bytes(1 << 13), "may have up to 4,096 bytes, it has more"),
    ):
        path = tmp_path / "bomb.json.gz"
        path.write_bytes(content)
        with pytest.raises(ValueError, match=words):
            files.read(path)
    with pytest.raises(ValueError, match=r"other\.json\.gz cannot be read: No such file"):
        files.read(tmp_path / "other.json.gz")


ROW = Row(0, 1, (0.5, 0.5))
NAME = making.name("previous", 0.5, True, ROW)


@over(
    "changed, words",
    [
        ({"by_mean": (0.0,)}, "18 effects by mean, got 1"),
        ({"by_zero": (0.0, 0.0)}, "6 effects by zero, got 2"),
        ({"hangs": (18,)}, "hang on prompts 0 to 17, got 18"),
        ({"by_mean": (-1e308,) * 18}, "numbers up to 1,000,000, got 1e[+]308"),
        ({"rows": (dataclasses.replace(ROW, sentence=4),)}, "rows of sentences 0 to 3, got 4"),
        ({"rows": (dataclasses.replace(ROW, query=5),)}, "5 pieces of sentence 0, got query 5"),
        ({"rows": (dataclasses.replace(ROW, weights=(0.0,) * 6),)}, "and 6 weights"),
        (
            {"names": (dataclasses.replace(NAME, name="<b>eldest"),)},
            "names of previous, .* got '<b>eldest'",
        ),
        ({"sink": Mean(1e39, 0, 1, 2)}, "numbers up to 1,000,000, got 1e[+]39"),
    ],
)
def test_no_passport_points_at_what_is_not_there_or_has_numbers_without_sense(changed, words):
    one = example().passports[0]
    inner = {name: part for name, part in changed.items() if hasattr(one.effects, name)}
    outer = {name: part for name, part in changed.items() if name not in inner}
    wrong = with_first(example(), effects=dataclasses.replace(one.effects, **inner), **outer)
    with pytest.raises(ValueError, match=f"head 0.0 must .*{words}"):
        files.check(wrong)


def test_all_heads_are_there_each_once_and_each_text_is_of_a_half():
    made = example()
    one = made.passports[0]
    left_out = [dataclasses.replace(one, layer=layer, head=head) for layer, head in WITH_GAPS]
    for heads in (
        *((one, one), made.passports[::-1], (dataclasses.replace(one, layer=-1),)),
        *((one, gap) for gap in left_out),
        *((gap,) for gap in left_out),
    ):
        with pytest.raises(ValueError, match="each once"):
            files.check(dataclasses.replace(made, passports=heads))
    half = dataclasses.replace(made.sentences[0], half="neither")
    with pytest.raises(ValueError, match="one of found, checked, got 'neither'"):
        files.check(dataclasses.replace(made, sentences=(half,)))


WITH_GAPS = ((0, 2), (2, 0), (1, 1), (10**9, 0), (0, 10**15))  # each behind head 0.0


def test_an_owners_folder_adds_to_the_packaged_files_and_no_name_leads_out_of_it(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(files, "FOLDER", tmp_path / "packaged")
    own = tmp_path / "own"
    for folder, name in ((files.FOLDER, "a"), (files.FOLDER, "b"), (own, "b"), (own, "../o/c d")):
        folder.mkdir(exist_ok=True)
        path = files.path_of(folder, name)
        assert path.parent == folder
        files.write(example(model=name), path)
    (own / ".half.json.gz").write_bytes(b"")
    assert {*files.available()} == {*files.packaged()} == {"a", "b"}
    monkeypatch.setenv(files.OWN_ATLAS_VARIABLE, str(own))
    assert {name: path.parent.name for name, path in files.available().items()} == {
        "a": "packaged",
        "b": "own",
        "../o/c d": "own",
    }
    assert files.read(files.available()["../o/c d"]).model == "../o/c d"
    monkeypatch.setenv(files.OWN_ATLAS_VARIABLE, str(tmp_path / "nowhere"))
    assert {*files.available()} == {"a", "b"}


def test_the_schema_describes_each_class():
    made = files.schema()
    assert made["$defs"]["Mean"]["required"] == ["mean", "low", "high", "count"]
    assert all(each["description"] for each in made["$defs"].values())
    said = made["$defs"]["Name"]["properties"]
    assert said["weight"]["description"] == "the mean weight on such keys"
    assert said["shuffled"]["description"] == said["untrained"]["description"]
    assert said["counter"]["description"].startswith("the row of the checked half")
