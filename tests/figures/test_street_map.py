"""Answers to what a map asks: those of a file that stands alone are those of Python."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.testing import assert_close

import attention
from attention.analysis.token_texts import Texts
from attention.figures import files, street_map
from attention.figures.head_map import EXACT, HeadMap
from attention.figures.street_map import StreetMap, first_question
from tests.capture.making import OwnAttention, inputs, model
from tests.running import sent_as

SCRIPT = Path(__file__).parents[1] / "browser_modules" / "answered.js"
TOKENS, KEYS = 307, 211  # of the first the whole has two levels


@pytest.mark.parametrize("causal", [True, False], ids=["causal", "whole"])
def test_a_file_answers_as_python_does(causal, tmp_path, monkeypatch):
    monkeypatch.setattr(street_map, "BUDGET", 60.0)  # an answer is whole on a busy machine too
    node = shutil.which("node")
    if node is None:
        pytest.skip("needs Node")
    with attention.capture() as captured:
        model(OwnAttention(is_causal=causal))(inputs(1, TOKENS))
    run = captured.one()
    head = HeadMap(run, 0, 1)
    head.fill(lambda done, of: None)
    words = [f" {'Needle' if at % 97 == 5 else 'word'}{at}" for at in range(TOKENS)]
    texts = [Texts(words)]
    tiles = [(head.top, 0, 0), (0, 1, 0), (EXACT, 4, 2)]
    more: list[dict[str, Any]] = [
        {"texts": [(0, 0)]},
        {"row": -1, "block": [1, 150, 60]},
        {"words": "needle", "far": [11, 1]},
    ]
    asked = [first_question("run 0 1", 211, tiles) | each for each in more]
    kept = {
        **{"map": "run 0 1", "rows": TOKENS, "columns": TOKENS, "least": head.least},
        **{"weights": run.weights(0, 1).flatten().tolist(), "questions": asked},
        "texts": [[texts[0].text(at) for at in range(TOKENS)]],
    }
    file = tmp_path / "kept.json"
    file.write_text(json.dumps(kept), "utf-8")
    ran = subprocess.run([node, str(SCRIPT), str(file)], capture_output=True, check=True)
    for question, found in zip(asked, json.loads(ran.stdout), strict=True):
        sent = sent_as(StreetMap(head, texts, question).content())
        expected = sent.header
        assert_close(torch.tensor(found.pop("numbers")), sent.numbers)
        apart = torch.tensor(found.pop("rest")) - torch.tensor([*sent.rest])
        assert int(apart.abs().max()) <= 1  # by the last bit of a weight
        for name in ("greatest", "links"):
            ours, theirs = found.pop(name) or [], expected.pop(name) or []
            assert [one["weight"] for one in ours] == pytest.approx(
                [one["weight"] for one in theirs], rel=1e-5
            )
            assert len(ours) == len({(one["query"], one["key"]) for one in ours})
        found.pop("floats")
        assert found == expected


def test_the_chosen_row_and_the_part_that_is_seen_are_offered_as_files():
    with attention.capture() as captured:
        model(OwnAttention())(inputs(1, 23))
    head = HeadMap(captured.one(), 0, 1)
    question = first_question("run 0 1", 7, []) | {"place": [3, 5, 11, 13]}
    with files.collecting() as offered:
        StreetMap(head, [Texts(["a"] * 23)], question).offer()
    names = [f"{what}-layer-0-head-1" for what in ("row-of-query-7", "part-of-the-map")]
    kinds = ("csv", "parquet")
    assert [file.name for file in offered] == [f"{name}.{kind}" for name in names for kind in kinds]
    assert str(offered[2].make()).count("\n") == 1 + 11 * 13


ABSURD: list[dict[str, Any]] = [
    *({"tiles": [tile]} for tile in ((0, 3, 0), (-2, 0, 0), (0, -1, 0), (64, 0, 0))),
    *({name: [(0, 0, 0)] * 65} for name in ("tiles", "shown")),
    *({"texts": [(1, 0)]}, {"texts": [(0, 1)]}, {"texts": [(0, 0)] * 9}, {"row": TOKENS}),
    *({"block": [0, TOKENS, 0]}, {"block": [0, 0]}, {"words": "x" * 201}, {"side": 1}),
    *({"far": [-1, 0]}, {"far": [0, 2]}, {"far": [0]}),
    *({"place": place} for place in ([0, 0, 9], [TOKENS, 0, 9, 9], [0, 0, 0, 9], [-1, 0, 9, 9])),
    *({"place": place} for place in ([0, KEYS, 9, 9], [0, 0, 9, 0])),
]


def test_a_question_for_what_is_not_there_or_for_much_is_none():
    keys = inputs(1, KEYS)
    with attention.capture() as captured:
        nn.MultiheadAttention(keys.shape[-1], 3, batch_first=True)(inputs(1, TOKENS), keys, keys)
    head = HeadMap(captured.one(), 0, 1)
    question = first_question("run 0 1", 7, head.whole())
    figure = StreetMap(head, [Texts(["a"] * TOKENS)], question)
    assert figure.has(question | {"place": [KEYS, KEYS - 1, 9, 9]})
    assert [wrong for wrong in ABSURD if figure.has(question | wrong)] == []
