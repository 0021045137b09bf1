"""Files for HeadVis: each number of a passport stands where HeadVis looks for it."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from attention.analysis.heads import MEASURES
from attention.atlas import headvis
from attention.atlas.passport import (
    CHECKED,
    FOUND,
    Against,
    Atlas,
    Circuit,
    Cost,
    Effects,
    Kind,
    Mean,
    Measured,
    Name,
    Passport,
    Row,
    Text,
)

NEVER = Mean(0.0, 0.0, 0.0, 0)


def mean(value: float, count: int = 1) -> Mean:
    return Mean(value, value, value, count)


def measured(name: str, found: Mean, checked: Mean) -> Measured:
    return Measured(name, found, checked, NEVER, NEVER)


EXAMPLE, COUNTER = Row(0, 2, (0.125, 0.75, 0.125)), Row(1, 1, (0.5, 0.5))
HEAD = Passport(
    layer=2,
    head=1,
    measures=(
        measured("previous", mean(0.5, 3), mean(0.25, 1)),
        measured("entropy", mean(2.0), mean(2.0)),
        measured("special", NEVER, NEVER),
    ),
    names=(
        Name("previous", mean(1), mean(0.75), mean(0.5), 0.0, 0.0, True, EXAMPLE, COUNTER),
        Name("itself", mean(1), mean(0.25), mean(0.5), 0.0, 0.0, False, EXAMPLE, None),
    ),
    rows=(Row(0, 1, (0.9, 0.1)), Row(2, 0, (1.0,))),
    unexplained=mean(0.4),
    sink=mean(0.3),
    effects=Effects(
        by_mean=(-0.55, 0.02, 0.0),
        by_zero=(),
        kinds=(
            Kind("capitals", mean(-0.55), NEVER, needed=False, by_zero=None),
            Kind("opposites", NEVER, mean(0.02), needed=False, by_zero=None),
        ),
        elsewhere=Cost(mean(0.01), mean(0.03), sure=1),
        elsewhere_by_zero=Cost(NEVER, NEVER, sure=0),
        hangs=(0,),
        controls=(2,),
    ),
    circuit=Circuit(
        copying=Against(-0.5, 0.0, -0.1, 0.1),
        copied=Against(0.0, 0.0, 0.0, 0.0),
        suppressed=Against(0.0, 0.0, 0.0, 0.0),
        directions=(),
    ),
    alike=(),
    near=(),
)
ATLAS = Atlas(
    schema=1,
    model="small",
    title="Small",
    checkpoint="some/small",
    weights="ab" * 32,
    versions={"attention": "1.2.3"},
    command="python -m attention.atlas small",
    seed=5,
    sentences=(
        Text("the cat sat", FOUND, ("the", " cat", " sat")),
        Text("no cat", CHECKED, ("no", " cat")),
        Text("one", FOUND, ("one",)),
    ),
    prompts=tuple(
        Text(text, FOUND, (text,), kind, answer, 0.75)
        for text, kind, answer in (
            ("The capital of France is", "capitals", " Paris"),
            ("Up and", "opposites", " down"),
            ("Hot and", "opposites", " cold"),
        )
    ),
    passports=(HEAD, replace(HEAD, layer=3, head=0, circuit=None)),
)


@pytest.fixture
def written(tmp_path: Path) -> dict[str, Any]:
    headvis.write(ATLAS, tmp_path)
    return {
        str(file.relative_to(tmp_path)): json.loads(file.read_text("utf-8"))
        for file in tmp_path.rglob("*.json")
    }


def test_each_head_has_a_row_of_the_scatter_and_a_file_that_the_configuration_names(
    written: dict[str, Any],
) -> None:
    config, rows = written["config.json"], written["scatter_data.json"]
    files = {
        config["head_data_pattern"].format(layer=layer, head=head)
        for layer, head in config["heads"]
    }
    assert {name for name in written if name.startswith("heads/")} == {f"heads/{f}" for f in files}
    assert [[row["layer"], row["head"]] for row in rows] == config["heads"] == [[2, 1], [3, 0]]
    assert all(config["metrics"] == [*row][2:] for row in rows)
    assert config["metric_descriptions"].keys() == {*config["metrics"]}
    assert (config["n_layers"], config["n_heads"]) == (4, 2)
    assert written["server_config.json"] == written["attributions/manifest.json"] == {}


def test_a_measure_is_the_mean_over_the_texts_of_both_halves(written: dict[str, Any]) -> None:
    row = written["scatter_data.json"][0]
    assert row["prev_token_score"] == (3 * 0.5 + 0.25) / 4
    assert row["pattern_entropy"] == 2 * math.log(2)
    assert row["names"] == 1
    assert row["most_lost"] == -0.55
    assert row["cost_elsewhere"] == 0.02
    assert row["unexplained"] == 0.4
    assert row["copying"] == -0.5
    assert written["scatter_data.json"][1]["copying"] is None


def test_a_measure_that_no_head_has_is_left_out(written: dict[str, Any]) -> None:
    assert "special_token_score" not in written["config.json"]["metrics"]
    assert "induction_score" not in written["config.json"]["metrics"]


def test_a_weight_stands_at_its_query_times_the_pieces_and_its_key(
    written: dict[str, Any],
) -> None:
    first, second, third = written["heads/L2H1.json"]["sequences"]
    assert first["tokens"] == ["the", " cat", " sat"]
    cells = dict(zip(first["attention_indices"], first["attention_values"], strict=True))
    assert cells == {3: 0.9, 4: 0.1, 6: 0.125, 7: 0.75, 8: 0.125}
    assert first["seq_len"] == 3
    assert [each["sequence_id"] for each in (first, second, third)] == [0, 1, 2]


def test_a_sentence_stands_in_the_fifth_of_its_greatest_weight_without_the_first_piece(
    written: dict[str, Any],
) -> None:
    found = written["heads/L2H1.json"]["sequences"]
    assert [each["max_activation"] for each in found] == [0.75, 0.5, 0.0]
    assert [each["interval"] for each in found] == [5, 4, 1]
    assert written["heads/L2H1.json"]["statistics"]["mean_max_activation"] == 1.25 / 3


def test_a_head_has_its_effects_names_and_the_prompts_that_hang_on_it(
    written: dict[str, Any],
) -> None:
    head = written["heads/L2H1.json"]
    assert head["names"] == [{"token": "previous", "weight": 0.75}]
    assert head["hangs"] == [{"token": "The capital of France is", "weight": -0.55}]
    effects = dict(zip(head["effects"]["bin_edges"], head["effects"]["bin_values"], strict=False))
    assert {edge: count for edge, count in effects.items() if count} == {-0.6: 1, 0.0: 2}
    plots = {plot["key"] for plot in written["config.json"]["custom_plots"]}
    tables = {table["key"] for table in written["config.json"]["custom_tables"]}
    assert plots | tables <= head.keys()


def test_tables_of_tokens_and_distances_add_the_weights_up(written: dict[str, Any]) -> None:
    head = written["heads/L2H1.json"]
    queries = {each["token"]: each["weight"] for each in head["top_query_tokens"]}
    assert queries == {" cat": 2.0, " sat": 1.0, "one": 1.0}
    sums = head["qk_distance_histogram"]
    assert len(sums["bin_edges"]) == len(sums["bin_values"]) + 1
    near = dict(zip(sums["bin_edges"], sums["bin_values"], strict=False))
    assert near[0] == pytest.approx(0.1 + 0.125 + 0.5 + 1.0)
    assert near[1] == pytest.approx(0.9 + 0.75 + 0.5)
    assert near[2] == 0.125


def test_every_measure_of_heads_has_its_metric() -> None:
    atlas = replace(
        ATLAS,
        passports=(
            replace(
                HEAD, measures=tuple(measured(name, mean(0.5), mean(0.5)) for name in MEASURES)
            ),
        ),
    )
    (row,) = headvis.files_of(atlas)["scatter_data.json"]
    assert sum(name.endswith("_score") for name in row) == len(MEASURES) - 2
    assert {"pattern_entropy", "qk_distance"} <= row.keys()
