"""Names that hold for heads, read from passports without all else in these."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from attention.atlas import files
from attention.atlas.earned import costs_of, names_of
from tests.atlas.test_packaged import atlas_of


@pytest.mark.parametrize("model", [*files.packaged()])
def test_the_names_of_a_model_are_those_that_hold_in_its_passports_and_no_other(model: str) -> None:
    atlas, found = atlas_of(model), names_of(model)
    of_passports = {
        (name.name, *one.place): name for one in atlas.passports for name in one.names if name.holds
    }
    assert {(one.name, one.layer, one.head) for one in found} == {*of_passports}
    assert len(found) == len(of_passports)
    for one in found:
        name = of_passports[one.name, one.layer, one.head]
        times = one.share * one.sentences
        assert times == pytest.approx(sum(half.mean * half.count for half in name.halves), abs=1e-3)
        assert times == pytest.approx(round(times), abs=1e-9)
        assert one.sentences == name.found.count + name.checked.count
    costs = {one.place: one.effects.elsewhere for one in atlas.passports}
    assert {head: one.elsewhere for head, one in costs_of(model).items()} == costs
    assert [one.share for one in found] == sorted((one.share for one in found), reverse=True)


def test_a_model_without_passports_or_with_broken_ones_has_no_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert names_of("nobody") == ()
    monkeypatch.setenv(files.OWN_ATLAS_VARIABLE, str(tmp_path))
    whole = files.packaged()["minilm"].read_bytes()
    path = files.path_of(tmp_path, "minilm")
    for broken in (b"", whole[:99], gzip.compress(b'{"sentences": [], "passports": [{}]}')):
        path.write_bytes(broken)
        assert names_of("minilm") == ()
        assert costs_of("minilm") == {}
