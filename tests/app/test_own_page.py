"""The page "Own weights", without a browser."""

from __future__ import annotations

import json
from io import BytesIO

import numpy
import pytest
import torch

from attention.app import results
from attention.lessons import heads, trained
from tests.running import opened

WEIGHTS = torch.rand(2, 3, 4, 4, generator=torch.Generator().manual_seed(1)).softmax(-1)
TOKENS, OTHERS = ["the", "cat", "sat", "down"], ["le", "chat", "s'est", "assis"]


@pytest.mark.parametrize("keys", [None, OTHERS])
def test_positions_are_compared_only_where_queries_and_keys_are_one_sentence(
    keys: list[str] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = BytesIO()
    named = {"keys": json.dumps(keys)} if keys else {}
    numpy.savez(file, weights=WEIGHTS.numpy(), tokens=json.dumps(TOKENS), **named)
    monkeypatch.setattr(results, "example_weights", file.getvalue)
    app = opened("own")
    app.toggle(key="own_example").set_value(True).run()
    (table,) = app.tables
    there = ["entropy", "first"] if keys else [*heads.MEASURES[:-1]]
    assert list(table) == ["", *there]
    seen = trained.glance_of(WEIGHTS, crosses=keys is not None).seen
    assert heads.measure_words(seen) in app.read_as_markdown
