"""A block again: each time on the output of the one before, and the spread of its weights."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import torch
from torch.testing import assert_close

from attention.core.variants import VARIANTS
from attention.subjects.play.how import StepSettings, again
from attention.subjects.play.how.rows import computation_of
from attention.subjects.play.how.step import Computation
from tests.cases import over
from tests.running import App, opened, viewed
from tests.subjects.play.how.making import result_of


def repeated(times: int, **settings: Any) -> list[Computation]:
    result = result_of("a b c d e", **settings)
    first = computation_of(result, StepSettings(times=times))
    return again.blocks(first, again.run_of(result))


@over("variant", VARIANTS)
def test_the_output_goes_in_as_x_as_often_as_is_set(variant):
    sizes = {"config": (("d_v", 7), ("d_k", 3))} if variant == "qkv" else {}
    made = repeated(4, variant=variant, mask=("causal",), positions="sinusoidal", **sizes)
    assert len(made) == 4
    for before, after in pairwise(made):
        assert_close(after.x, before.layer.output(before.run))
        assert after.trace.mask.tolist() == before.trace.mask.tolist()
    assert_close(made[0].x, made[0].vectors + made[0].positions)


def test_dot_products_average_the_words_until_they_are_alike():
    made = repeated(6)
    x = made[0].x
    for block in made:
        weights = (x @ x.T / math.sqrt(7)).softmax(-1)
        assert_close(block.trace.weights, weights, atol=1e-5, rtol=1e-4)
        x = weights @ x
    assert float(x.std(0).max()) < float(made[0].x.std(0).max()) / 4


def test_an_output_of_another_width_does_not_go_in_again():
    assert len(repeated(3, variant="qkv", config=(("d_v", 5),))) == 1


SPREADS = {
    (1.0, 1.5, 2.25): "even out: the mean entropy of all queries goes from 1.00 to 2.25 bits.",
    (2.0, 2.5, 1.0): "sharpen: the mean entropy of all queries goes from 2.00 to 1.00 bits.",
    (1.0, 1.001): "stay as even as they were: the mean entropy of all queries is 1.00 bits.",
}


@over("bits", SPREADS)
def test_it_is_said_if_weights_even_out_or_sharpen(bits):
    said = again.spread_words(bits)
    assert said == f"From time 1 to time {len(bits)} the weights {SPREADS[bits]}"


def rows_of(app: App) -> list[tuple[str, str]]:
    return [(row["name"], row["beside"]) for row in app.sent["rows_again"].header["rows"]]


def test_a_sentence_goes_through_the_block_up_to_six_times_in_rows_under_its_words():
    app = opened("explore", s="the cat walks on the street", fold="how", query=1)
    assert "rows_again" not in app.sent
    app.press("The block again, on its output")
    assert app.query_params["times"] == "2"
    app.choose("times", 6)
    rows = rows_of(app)
    assert [name for name, _ in rows] == [f"time {time}" for time in range(1, 7)]
    (said,) = (words for words in app.told if words.startswith("From time 1 to"))
    assert f"from {rows[0][1].removesuffix(' bits')} to {rows[-1][1]}." in said
    assert "mixture" not in app.sent, "the sum is that of the first time"
    weights = app.sent["rows_again"].numbers.view(6, 6, 6)
    assert_close(weights.sum(-1), torch.ones(6, 6))
    # the stages are those of the last time
    (row,) = (
        at for at, one in enumerate(app.sent["rows"].header["rows"]) if one["name"] == "softmax"
    )
    assert_close(app.sent["rows"].numbers.view(-1, 6, 6)[row], weights[-1])
    app.tell("rows_again", "row", 2)
    assert len(rows_of(app)) == int(app.query_params["times"]) == 3


def test_own_matrices_go_in_again_where_the_output_is_as_wide_as_x():
    own: dict[str, Any] = {"fold": "how", "input": "matrices", "times": 3, "step": "output"}
    (note,) = (note for note in opened("explore", **own).notes if "block" in note)
    assert note == "The output is not as wide as x, or the text is too long: the block runs once."
    identity = "1 0; 0 1"
    widths = dict.fromkeys(("own_W_q", "own_W_k", "own_W_v"), identity)
    app = opened(
        "explore", **own, **widths, own_x="1 0; 0 2 | 3 1; 0 0", own_item=1, own_mask="1 1; 1 1"
    )
    x = torch.tensor([[3.0, 1], [0, 0]])
    for _ in range(3):
        x = (x @ x.T / math.sqrt(2)).softmax(-1) @ x
    assert_close(app.sent["matrices"].result, x)
    assert app.sent["rows_again"].header["tokens"] == ["x0", "x1"]


def test_numbers_that_grow_beyond_float32_end_it():
    weights = dict.fromkeys(("own_W_q", "own_W_k", "own_W_v"), "1000000")
    app = opened(
        "explore",
        input="matrices",
        times=6,
        own_x="1000000; -1000000",
        own_mask="1 1; 1 1",
        **weights,
    )
    assert app.notes == ["The numbers grow too large to go on."]
    assert len(rows_of(app)) == 2


def test_no_chapter_shows_a_block_again_as_its_figure_has_one():
    for link, figure in (({"times": 2}, ""), ({}, "how"), ({"times": 2, "fold": "map"}, "picture")):
        view = viewed("explore", **{"fold": "how", **link})
        assert view.page.chapter(view) == figure
