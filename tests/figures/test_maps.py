"""Maps of where a word goes, and of a number of each layer and head."""

from __future__ import annotations

import re
from typing import Any

import pytest
import torch

from attention.figures import layer_map
from attention.figures.chart import Chart
from attention.figures.maps import Spot, word_map
from tests.cases import over
from tests.hostile import HOSTILE

START, END = (-1.0, 0.0), (1.0, 0.5)


def written(spots: list[Spot]) -> dict[str, str]:
    """The words that are written on the map, and at which side of their dots."""
    figure = word_map("apple", spots, START, END)
    return {
        name: side
        for part in figure.data[:-1]
        for name, side in zip(part.text, part.textposition, strict=True)
        if name
    }


def test_an_arrow_leads_from_where_the_word_starts_to_where_it_ends_and_no_word_is_markup():
    figure = word_map("<b>a", [Spot("<i>b", 0.0, 3.0, "before")], START, END)
    (arrow,) = figure.layout.annotations
    assert (arrow.ax, arrow.ay, arrow.x, arrow.y) == (*START, *END)
    assert "<b>a" not in figure.to_json()
    assert "<i>b" not in figure.to_json()
    assert "&lt;i&gt;b" in figure.data[0].text[0]


RIGHT, LEFT = "middle right", "middle left"


@over(
    "spots, sides",
    [
        ([Spot("pear", 0.0, 3.0, "before")], [RIGHT]),
        ([Spot("plum", 0.0, 3.0, "before"), Spot("pear", 0.0, 3.0, "after")], [LEFT, RIGHT]),
        # no word across the dot of another one
        ([Spot("which", 0.0, 3.0, "both"), Spot("in", 0.2, 3.0, "both")], [LEFT, RIGHT]),
        ([Spot("pear", 0.0, 3.0, "after"), Spot("sugar", 0.3, 3.0, "token", 1.0)], [LEFT, RIGHT]),
        # at the right edge, and where the map is as narrow as on a phone
        (
            [Spot("strawberry", 30.0, 2.0, "after"), Spot("blackberry", -30.0, 3.0, "after")],
            [LEFT, RIGHT],
        ),
        ([Spot("microsoft", 2.0, 3.0, "before")], [LEFT]),
    ],
)
def test_words_are_written_beside_their_dots_where_none_hides_another(spots, sides):
    assert written(spots) == {spot.name: side for spot, side in zip(spots, sides, strict=True)}


def test_in_a_crowd_words_stand_at_corners_and_those_without_room_say_theirs_when_pointed_at():
    crowd = [Spot(f"word{at}", 0.0, 3.0, "before") for at in range(9)]
    assert list(written(crowd)) == ["word0", "word1"]
    around = zip("abcde", (0.0, 0.3, -0.3, 0.0, 0.0), (3.0, 3.0, 3.0, 3.2, 2.8), strict=True)
    assert len(written([Spot(name, x, y, "after") for name, x, y in around])) == 5


def test_the_greatest_token_has_its_name_also_in_a_crowd():
    crowd = [Spot(f"word{at}", 0.0, 3.0, "token", 0.5) for at in range(9)]
    parts = word_map("apple", [*crowd, Spot("great", 0.0, 3.0, "token", 0.51)], START, END).data
    assert "" in parts[0].text
    assert parts[0].text[-1] == "great"


def test_other_tokens_are_dots_as_large_as_their_weights_and_named_once():
    tokens = [Spot("pear", 2.0, 3.0, "token", 0.25), Spot("sugar", -2.0, -3.0, "token", 0.01)]
    parts = word_map("apple", [Spot("pear", 2.0, 3.0, "before"), *tokens], START, END).data
    (dots,) = (part for part in parts if "weight" in (part.name or ""))
    assert dots.marker.size == (6 + 34 * 0.5, 6 + 34 * 0.1)
    assert dots.text == ("", "sugar")


# Heatmaps of a number of each layer and head, or token, as they are sent to a browser


NUMBERS = torch.tensor([[0.5, -2.0, 0.25], [1.0, 0.0, -0.125]])


def cells(chart: Chart) -> Any:
    return chart.figure.data[0]


def test_layers_go_down_heads_across_and_0_has_the_middle_of_the_colours():
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


def test_tokens_stand_above_with_their_positions_where_they_come_twice():
    chart = layer_map(NUMBERS, "Path", ["the", "cat", "the"])
    ticks = [re.sub(r"\W+", " ", tick).strip() for tick in chart.figure.layout.xaxis.ticktext]
    assert ticks == ["the 0", "cat", "the 2"]
    assert list(cells(chart).customdata[1]) == ["the (0)", "cat", "the (2)"]
    assert "token %{customdata}" in cells(chart).hovertemplate


@pytest.mark.parametrize("words", HOSTILE)
def test_hostile_tokens_and_titles_are_text(words):
    chart = layer_map(NUMBERS, words, [words, "a", "b"])
    layout = chart.figure.layout
    for shown in (layout.title.text, layout.xaxis.ticktext[0], cells(chart).customdata[0][0]):
        assert "<" not in shown


def test_numbers_that_are_no_map_are_refused():
    with pytest.raises(ValueError, match=r"must be \(layers, heads\) .*got \(2,\)"):
        layer_map(NUMBERS[:, 0], "")
    with pytest.raises(ValueError, match="a token for each of 3 columns, got 2"):
        layer_map(NUMBERS, "", ["a", "b"])
    with pytest.raises(ValueError, match=r"numbers must be a Tensor, got \[1\] \(list\)"):
        layer_map([1], "")
