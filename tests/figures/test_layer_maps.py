"""Heatmaps of a number of each layer and head, or token, as they are sent to a browser."""

from __future__ import annotations

import re
from typing import Any

import pytest
import torch

from attention.figures import layer_map
from attention.figures.chart import Chart
from attention.figures.scene import Row, Scene, note
from attention.notebook.scenes import ShownScene
from tests.hostile import HOSTILE

NUMBERS = torch.tensor([[0.5, -2.0, 0.25], [1.0, 0.0, -0.125]])


def cells(chart: Chart) -> Any:
    return chart.figure.data[0]


def test_layers_go_down_heads_across_and_0_has_the_middle_of_the_colours() -> None:
    chart = layer_map(NUMBERS, "Votes")
    drawn = cells(chart)
    assert [list(row) for row in drawn.z] == NUMBERS.tolist()
    assert (drawn.zmin, drawn.zmax) == (-2.0, 2.0)
    layout = chart.figure.layout
    assert list(layout.yaxis.range) == [1.5, -0.5]  # the first layer on top
    assert (layout.xaxis.title.text, layout.yaxis.title.text) == ("head", "layer")
    assert list(layout.xaxis.ticktext) == ["0", "1", "2"]
    assert "layer %{y}, head %{customdata}" in drawn.hovertemplate
    assert (chart.label, layout.title.text) == ("Votes", "Votes")


def test_tokens_stand_above_with_their_positions_where_they_come_twice() -> None:
    chart = layer_map(NUMBERS, "Path", ["the", "cat", "the"])
    ticks = [re.sub(r"\W+", " ", tick).strip() for tick in chart.figure.layout.xaxis.ticktext]
    assert ticks == ["the 0", "cat", "the 2"]
    assert list(cells(chart).customdata[1]) == ["the (0)", "cat", "the (2)"]
    assert "token %{customdata}" in cells(chart).hovertemplate


@pytest.mark.parametrize("words", HOSTILE)
def test_hostile_tokens_and_titles_are_text(words: str) -> None:
    chart = layer_map(NUMBERS, words, [words, "a", "b"])
    layout = chart.figure.layout
    for shown in (layout.title.text, layout.xaxis.ticktext[0], cells(chart).customdata[0][0]):
        assert "<" not in shown


def test_numbers_that_are_no_map_are_refused() -> None:
    with pytest.raises(ValueError, match=r"must be \(layers, heads\) .*got \(2,\)"):
        layer_map(NUMBERS[:, 0], "")
    with pytest.raises(ValueError, match="a token for each of 3 columns, got 2"):
        layer_map(NUMBERS, "", ["a", "b"])
    with pytest.raises(ValueError, match=r"numbers must be a Tensor, got \[1\] \(list\)"):
        layer_map([1], "")  # type: ignore[arg-type]


def test_a_notebook_gives_charts_the_room_they_take() -> None:
    few, many = layer_map(NUMBERS, "Few"), layer_map(torch.ones(30, 3), "Many")
    heights = {
        height: part
        for part in (
            few,
            Scene([Row([few, many])]),
            Scene([Row([few, many]), few]),
            Scene([note("")]),
        )
        for height in re.findall(r"height: (\d+)px\"></iframe>", ShownScene(part)._repr_html_())
    }
    one, two = few.figure.layout.height, many.figure.layout.height
    assert [int(height) for height in heights] == [one + 32, two + 32, one + two + 64, 720]
