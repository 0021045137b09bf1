"""All heads at a glance: each in its place, told by its tokens, in a picture that stays small."""

from __future__ import annotations

import math
from typing import Any

import numpy
import plotly.graph_objects as go
import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from attention.figures import glance as glancing
from attention.figures.glance import glance
from attention.subjects.long_run.own_weights import show
from tests.cases import over
from tests.properties import given, settings
from tests.properties import strategies as st
from tests.subjects.steps.making import drawn

QUERIES, KEYS = ["the", "cat", "sat"], ["<b>", "cat", "", "sat", "😀"]
LIMIT = 10_000_000  # bytes of a page with one picture and plotly itself


def weights_of(*leading: int) -> Tensor:
    """Weights of three queries over five keys."""
    return drawn(*leading, 3, 5).softmax(-1)


def cells_of(figure: go.Figure, layers: int, heads: int) -> tuple[Tensor, Tensor]:
    """Shades and weights of all heads, (layers, heads, rows, columns), without what is between."""
    (cells,) = figure.data
    down = sum(label.startswith("layer 0, query ") for label in cells.y)
    across = sum(label.startswith("head 0, key ") for label in cells.x)
    rows, columns = math.ceil(len(cells.y) / layers), math.ceil(len(cells.x) / heads)
    found = []
    for numbers in (cells.z, cells.customdata):
        whole = numpy.full((layers * rows, heads * columns), numpy.nan, numpy.float32)
        whole[: len(cells.y), : len(cells.x)] = numbers
        each = torch.from_numpy(whole.reshape(layers, rows, heads, columns)).transpose(1, 2)
        assert each[..., down:, :].isnan().all()
        assert each[..., across:].isnan().all()
        found.append(each[..., :down, :across])
    return found[0], found[1]


@over("size", [(1, 7), (2, 7), (2, 1), (1, 2)])
def test_several_heads_stand_in_a_row_for_each_layer_each_by_its_own_greatest(
    size: tuple[int, int],
) -> None:
    layers, heads = size
    weights = weights_of(layers, heads)
    figure = glance(weights, QUERIES, KEYS)
    shades, numbers = cells_of(figure, layers, heads)
    assert torch.equal(numbers, weights)
    assert_close(shades, weights / weights.amax((-2, -1), keepdim=True))
    down, across = figure.layout.yaxis, figure.layout.xaxis
    assert (figure.data[0].zmin, figure.data[0].zmax) == (0, 1)
    assert list(down.ticktext) == [f"layer {layer}" for layer in range(layers)]
    assert list(across.ticktext) == list(range(heads))
    assert (down.tickvals[0], across.tickvals[0]) == (1, 2), "the middle of 3 rows, of 5 columns"
    assert figure.layout.title.text.startswith("3 queries down, 5 keys across. One cell is one")


def test_every_cell_is_told_by_its_layer_head_and_tokens() -> None:
    (cells,) = glance(weights_of(2, 7), QUERIES, KEYS).data
    told = [f"query {token} ({at})" for at, token in enumerate(QUERIES)]
    assert [y for y in cells.y if "gap" not in y] == [
        f"layer {layer}, {query}" for layer in range(2) for query in told
    ]
    keys = ["&lt;b&gt; (0)", "cat (1)", " (2)", "sat (3)", "😀 (4)"]
    assert [x for x in cells.x if "gap" not in x] == [
        f"head {head}, key {key}" for head in range(7) for key in keys
    ]
    assert len({*cells.x}) == len(cells.x), "plotly would draw the same names over each other"
    assert len({*cells.y}) == len(cells.y)
    assert cells.hoverongaps is False
    assert cells.hovertemplate == "%{y}<br>%{x}<br>weight %{customdata:.4f}<extra></extra>"


@over("count", [2, 3, 4, 5, 12])
def test_no_name_is_written_half_way_between_two_cells(count: int) -> None:
    """Plotly would tell the second one by that name: hovered cells are looked up so."""
    tokens = [str(token) for token in range(count)]
    layout = glance(torch.eye(count).expand(2, 3, -1, -1), tokens, tokens).layout
    for at in (*layout.xaxis.tickvals, *layout.yaxis.tickvals):
        assert at % 1 != 0.5


def test_where_there_are_too_many_a_cell_is_the_greatest_of_a_block(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(glancing, "MAX_CELLS", 2 * 3 * 4**2)
    tokens = [f"w{at}" for at in range(5)]
    weights = drawn(2, 3, 5, 5).softmax(-1)
    figure = glance(weights, tokens, tokens)
    _, numbers = cells_of(figure, 2, 3)
    assert numbers.shape == (2, 3, 3, 3), "of five by five, two at a time"
    for row, rows in enumerate((slice(0, 2), slice(2, 4), slice(4, 5))):
        for column, columns in enumerate((slice(0, 2), slice(2, 4), slice(4, 5))):
            block = weights[..., rows, columns].amax((-2, -1))
            assert torch.equal(numbers[..., row, column], block)
    (cells,) = figure.data
    assert list(cells.y[:3]) == [
        "layer 0, query w0 (0) to w1 (1)",
        "layer 0, query w2 (2) to w3 (3)",
        "layer 0, query w4 (4)",
    ]
    assert cells.x[0] == "head 0, key w0 (0) to w1 (1)"
    assert "One cell is the greatest of 2 × 2 weights" in figure.layout.title.text
    assert "<br>greatest weight %{customdata" in cells.hovertemplate


@given(st.integers(1, 7), st.integers(1, 11), st.integers(1, 61), st.integers(1, 61))
@settings(max_examples=40)
def test_no_strong_weight_is_lost_and_no_picture_grows(
    layers: int, heads: int, rows: int, columns: int
) -> None:
    limit = glancing.MAX_CELLS
    try:
        glancing.MAX_CELLS = 1000
        weights = drawn(layers, heads, rows, columns).softmax(-1)
        figure = glance(weights, ["q"] * rows, ["k"] * columns)
    finally:
        glancing.MAX_CELLS = limit
    _, numbers = cells_of(figure, layers, heads)
    assert torch.equal(numbers.amax((-2, -1)), weights.amax((-2, -1)))
    assert numbers.numel() <= max(1000, layers * heads)
    # gaps of a cell each beside the smallest heads, which are one cell
    assert figure.data[0].z.size <= 4 * max(1000, layers * heads)


LONG = [f"<{at:03}>" + "&" * 40 for at in range(512)]


@over("case", [(12, 12, 512, {}), (12, 12, 512, {"layer": 7, "head": 11}), (32, 32, 67, {})])
def test_a_picture_stays_below_10_megabytes_and_one_head_is_shown_in_full(case: Any) -> None:
    layers, heads, tokens, more = case
    weights = drawn(tokens, tokens).softmax(-1).expand(heads, -1, -1)
    figure = show([weights] * layers, LONG[:tokens], **more)
    size = len(figure.to_html().encode())
    assert size < LIMIT, f"{size:,}"
    if more:
        assert numpy.array_equal(figure.data[0].z, weights[0].numpy())


@over("size", [(1, 7), (12, 7), (12, 128), (12, 512), (32, 128)])
def test_the_gap_beside_a_head_is_wide_enough_to_be_seen(size: tuple[int, int]) -> None:
    heads, tokens = size
    names = ["x"] * tokens
    figure = glance(torch.eye(tokens).expand(12, heads, -1, -1), names, names)
    _, numbers = cells_of(figure, 12, heads)
    step = math.ceil(len(figure.data[0].y) / 12)
    room = figure.layout.height - figure.layout.margin.t - figure.layout.margin.b
    assert (1 - numbers.shape[-2] / step) * room / 12 >= 3, "pixels"
    assert figure.layout.plot_bgcolor != figure.layout.template.layout.plot_bgcolor


@over("heads", [32, 128, 1024])
def test_at_most_32_heads_are_numbered(heads: int) -> None:
    layout = glance(torch.ones(1, heads, 1, 1), ["x"], ["x"]).layout
    assert len(layout.xaxis.ticktext) == len(layout.xaxis.tickvals) == 32
    assert layout.xaxis.ticktext[1] == heads // 32
