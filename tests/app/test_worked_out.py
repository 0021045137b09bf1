"""The numbers that the browser works out from what a page sends it are torch's own."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.testing import assert_close

from attention.core.analysis import contributions, rounding, shares
from attention.figures.messages import message
from attention.pipeline import Result
from tests.cases import over
from tests.running import Sent, opened
from tests.subjects.play.how.making import result_of

MODULES = Path(__file__).parents[1] / "browser_modules"
MOST_TERMS, MOST_WRITTEN = 32, 5
LONG = " ".join(f"w{number}" for number in range(40))
MASKED: dict[str, Any] = {"mask": ("causal", "length"), "valid_len": 2, "positions": "alibi"}


def worked_out(sent: Sent, queries: list[int], folder: Path) -> list[Any]:
    """Results of the modules, for each query that is asked for."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("needs Node")
    file = folder / "message"
    file.write_bytes(message(sent.header, sent.numbers, rest=sent.rest))
    script = [node, str(MODULES / "worked_out.js"), str(file), *map(str, queries)]
    found: list[Any] = json.loads(subprocess.run(script, capture_output=True, check=True).stdout)
    return found


def check_terms(found: dict[str, Any], result: Result, query: int) -> None:
    """Of one query the terms of its sum, those that are written out, and what they come to."""
    trace, keys = result.trace, result.key_tokens
    applied, added = trace.applied[query].double(), contributions(trace, query).double()
    order = sorted(range(len(keys)), key=lambda key: (-abs(float(applied[key])), key))
    shown, others = sorted(order[:MOST_TERMS]), order[MOST_TERMS:]
    groups = [[key] for key in shown] + ([others] if others else [])
    rows = found["rows"]
    names = [f"{len(others)} others"] if others else []
    assert [row["name"] for row in rows] == [keys[key] for key in shown] + names
    sums = torch.stack([applied[group].sum() for group in groups])
    assert_close(torch.tensor([row["weight"] for row in rows]).double(), sums)
    vectors = torch.stack([added[group].sum(0) for group in groups])
    share = shares(trace, query).double()
    both = torch.stack([vectors.norm(dim=1), torch.stack([share[g].sum() for g in groups])], dim=1)
    near = {"atol": 1e-5, "rtol": 1e-5}
    measures = torch.tensor([[row["length"], row["share"]] for row in rows])
    assert_close(measures.double(), both, **near)
    assert max(found["rounding"], rounding(trace, query)) < 1e-5
    output = trace.output[query].double()
    assert_close(
        torch.tensor(found["terms"]).double().unflatten(0, (-1, len(output))),
        torch.cat([vectors, output[None]]),
        **near,
    )
    assert found["length"] == pytest.approx(float(output.norm()), rel=1e-6)
    assert found["written"] == [key for key in order if applied[key]][:MOST_WRITTEN]


@over(
    "sentence, settings",
    [
        ("a b c d e", {}),
        ("a b c d e", MASKED | {"variant": "talking", "head": 2}),
        ("a b c d e", MASKED | {"variant": "qkv", "scale": "none"}),
        (LONG, {"variant": "multihead", "positions": "sinusoidal"}),
        ("a b c d e", {"mask": ("length",), "valid_len": 0}),
    ],
)
def test_every_number_of_the_weighted_sum_is_torchs_own(sentence, settings, tmp_path):
    settings = settings | {"d_model": 10}
    link = {"s": sentence, "vectors": "random", "fold": "numbers"}
    sent = opened("explore", **link, **settings).sent["sum_picture"]
    result = result_of(sentence, **settings)
    for query, found in zip((0, 4), worked_out(sent, [0, 4], tmp_path), strict=True):
        check_terms(found, result, query)


def test_every_number_of_one_sentence_over_another_is_torchs_own(tmp_path):
    link = {"target": "a b c", "memory": "d e", "vectors": "random", "d_model": 10}
    sent = opened("cross", **link, mask="causal").sent["picture"]
    (found,) = worked_out(sent, [1], tmp_path)
    check_terms(found, result_of("a b c", "d e", d_model=10, mask=("causal",)), 1)
