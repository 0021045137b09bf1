"""The study of tunings: its statistics, and its page."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from benchmarks.tuned import MEASURES, PAPER, RESULTS, TASKS, filled, foretold, rounded, summed

HEADS = 30


def part(seed: int) -> dict[str, Any]:
    """The numbers of a tuning whose effects follow the change of W_QK, and nothing else."""
    drawn = np.random.default_rng(seed)
    change = drawn.random(HEADS)
    return {
        **{"base": [10.0, 20.0], "tuned": [50.0, 60.0], "left": 0.25, "probes": [1.0]},
        "put_back": (-change).tolist(),
        "qk": change.tolist(),
        "ov": drawn.random(HEADS).tolist(),
        "maps": drawn.random(HEADS).tolist(),
        "layer": [at // 3 for at in range(HEADS)],
        "team": [[0.45, 0.54, 0.55], [0.33, 0.53, 0.54]],
    }


def test_a_measure_that_orders_effects_foretells_them_and_another_does_not():
    parts = [*map(part, range(3))]
    sure, other = foretold(parts, "qk"), foretold(parts, "ov")
    np.testing.assert_allclose(sure["rho"], 1.0)
    assert (sure["first"], sure["ranks"]) == (10, [1, 1, 1])
    each = [spearmanr(np.abs(one["put_back"]), one["ov"]).statistic for one in parts]
    np.testing.assert_allclose(other["seeds"], each)
    mean, low, high = other["rho"]
    assert low < mean < high < 0.6
    assert max(other["ranks"]) > 1


def test_a_summary_names_heads_and_shares_of_the_change():
    found = summed([*map(part, range(3))])
    assert found["team"] == [2, *np.divide([22.0, 2.0, 1.0], 40.0).tolist()]
    assert (found["base"], found["tuned"], found["left"]) == (15.0, 55.0, 0.25)
    at = int(np.argmin(part(2)["put_back"]))
    assert found["strongest"][2][0] == [f"{at // 3}.{at % 3}", part(2)["put_back"][at]]


def test_the_tables_of_the_page_are_those_of_the_results():
    found, text = json.loads(RESULTS.read_text("utf-8")), PAPER.read_text("utf-8")
    assert filled(text, found) == text
    assert rounded(found) == found
    assert {name.split()[0] for name in found["tunings"]} == {*TASKS}
    assert max(one["left"] for one in found["tunings"].values()) < 0.005
    for one in found["tunings"].values():  # as the page says in short
        (maps, least, _), *others = (one["foretold"][name]["rho"] for name in ("maps", *MEASURES))
        assert least > 0
        assert maps == max(rho for rho, *_ in others)
        assert min(one["foretold"]["ov"]["ranks"]) > 30
